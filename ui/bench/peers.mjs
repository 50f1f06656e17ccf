// SPDX-License-Identifier: Apache-2.0
// The same tree in another flame graph (speedscope, as its package ships it): how long it takes from bytes at hand to the first
// paint. Installs it into build/ui-peers if it is not there yet.
//
//   node bench/peers.mjs [--rounds N] [--nodes N]

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { launch, load, open, option, quantile, root, serve } from "./browser.mjs";

const nRounds = option("rounds", 3);
const nNodes = option("nodes", 1_000_000);

const folder = join(root, "../build/ui-peers");
if (!existsSync(join(folder, "node_modules/speedscope"))) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(root, "bench/peers/package.json"), join(folder, "package.json"));
  const install = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
  if (install.status !== 0) process.exit(1);
}

/** A tree in pre-order as the events of speedscope's own format. */
function eventsOf(tree) {
  const parts = [];
  const open = [];
  let at = 0;
  const close = () => {
    const node = open.pop();
    at += tree.selfs[0][node];
    parts.push(`{"type":"C","frame":${tree.nodeNames[node]},"at":${at}}`);
  };
  tree.depths.forEach((depth, node) => {
    while (open.length > depth) close();
    parts.push(`{"type":"O","frame":${tree.nodeNames[node]},"at":${at}}`);
    open.push(node);
  });
  while (open.length > 0) close();
  const frames = JSON.stringify(tree.names.map((name) => ({ name })));
  return `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":${frames}},"profiles":[{"type":"evented","name":"bench","unit":"none","startValue":0,"endValue":${at},"events":[${parts.join(",")}]}]}`;
}

/** In the page: takes the time from the moment the bytes are asked for by the page's script until the graph has been drawn. */
function watch() {
  const fetched = window.fetch;
  window.fetch = async (...given) => {
    const response = await fetched(...given);
    const bytes = await response.arrayBuffer();
    window.hearthStart = performance.now();
    return new Response(bytes, { headers: response.headers });
  };
  const channel = new MessageChannel();
  channel.port1.onmessage = () => (window.hearthDone = performance.now());
  const look = () => {
    if (window.hearthStart && /bench/.test(document.title) && document.querySelector("canvas")) return channel.port2.postMessage(0);
    return requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

const { syntheticTree } = await load("test/flame-encode.ts");
const release = join(folder, "node_modules/speedscope/dist/release");
const files = Object.fromEntries(readdirSync(release).map((name) => [`/${name}`, readFileSync(join(release, name))]));
const server = await serve({ ...files, "/profile.json": eventsOf(syntheticTree({ n: nNodes })) });
const browser = await launch();
const paints = [];
for (let round = 0; round < nRounds; round++) {
  const page = await open(browser, "about:blank");
  await page.addInitScript(watch);
  await page.goto(`${server.url}/index.html#profileURL=${encodeURIComponent(`${server.url}/profile.json`)}`);
  await page.waitForFunction(() => window.hearthDone, null, { timeout: 120_000 });
  paints.push(await page.evaluate(() => window.hearthDone - window.hearthStart));
  await page.context().close();
}
console.log(`| speedscope 1.25.0: data at hand -> first paint, ${nNodes} nodes | ${quantile(paints, 0.5).toFixed(0)} ms |`);
await browser.close();
server.close();
