// SPDX-License-Identifier: Apache-2.0
// A program with a known hot spot that sends its profiles with the official Pyroscope SDK: nodesender.js URL SECONDS
'use strict';

const Pyroscope = require('@pyroscope/nodejs');

function hotCompute(until) {
  let n = 0;
  while (Date.now() < until) {
    for (let i = 0; i < 100000; i++) n += i % 7;
  }
  return n;
}

Pyroscope.init({
  serverAddress: process.argv[2],
  appName: 'node-sender',
  flushIntervalMs: 5000,
  tags: { region: 'eu-3' },
  wall: { collectCpuTime: true },
});
Pyroscope.start();
const end = Date.now() + Number(process.argv[3]) * 1000;
const kept = [];
(function turn() {
  if (Date.now() >= end) {
    Pyroscope.stop().then(() => process.exit(0));
    return;
  }
  Pyroscope.wrapWithLabels({ handler: '/cart' }, () => hotCompute(Date.now() + 100));
  kept.push(new Array(20000).fill(kept.length));
  setTimeout(turn, 5);
})();
