// SPDX-License-Identifier: Apache-2.0
// The same tree in other flame graphs: how long it takes from bytes at hand to the first paint. Speedscope as its package ships it,
// and @pyroscope/flamegraph in React as its README shows it. Installs them into build/ui-peers if they are not there yet.
//
//   node bench/peers.mjs [--rounds N] [--nodes N]

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { launch, load, open, option, quantile, root, serve } from "./browser.mjs";

const nRounds = option("rounds", 3);
const nNodes = option("nodes", 1_000_000);

const folder = join(root, "../build/ui-peers");
if (!existsSync(join(folder, "node_modules/@pyroscope/flamegraph"))) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(root, "bench/peers/package.json"), join(folder, "package.json"));
  const install = spawnSync("npm", ["install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
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

/** A tree in pre-order as Pyroscope's flame graph takes it: for each level offset, total, self and name of each bar. */
function flamebearerOf(tree) {
  const totals = tree.selfs[0].slice();
  for (let node = totals.length - 1; node > 0; node--) totals[parentOf(tree, node)] += totals[node];
  const levels = [];
  const ends = [];
  const lefts = []; /* where the next child of the open node of each level begins */
  tree.depths.forEach((depth, node) => {
    const left = depth === 0 ? 0 : lefts[depth - 1];
    levels[depth] ??= [];
    levels[depth].push(left - (ends[depth] ?? 0), totals[node], tree.selfs[0][node], tree.nodeNames[node]);
    ends[depth] = left + totals[node];
    lefts[depth] = left;
    if (depth > 0) lefts[depth - 1] += totals[node];
  });
  const metadata = { format: "single", sampleRate: 100, spyName: "gospy", units: "samples" };
  return JSON.stringify({ version: 1, flamebearer: { names: tree.names, levels, numTicks: totals[0], maxSelf: totals[0] }, metadata });
}

/** Parents of nodes in pre-order, found once. */
const parents = new WeakMap();
function parentOf(tree, node) {
  if (!parents.has(tree)) {
    const open = [];
    parents.set(tree, Uint32Array.from(tree.depths, (depth, at) => {
      open[depth] = at;
      return depth === 0 ? 0 : open[depth - 1];
    }));
  }
  return parents.get(tree)[node];
}

/** The page of @pyroscope/flamegraph: fetches, parses and renders; the time begins when the bytes are there. */
const PYROSCOPE = `
import React from "react";
import ReactDOM from "react-dom";
import { FlamegraphRenderer } from "@pyroscope/flamegraph";
const bytes = await (await fetch("/flamebearer.json")).arrayBuffer();
window.hearthStart = performance.now();
const profile = JSON.parse(new TextDecoder().decode(bytes));
const channel = new MessageChannel();
channel.port1.onmessage = () => (window.hearthDone = performance.now());
ReactDOM.render(React.createElement(FlamegraphRenderer, { profile, onlyDisplay: "flamegraph", showToolbar: false }), document.getElementById("host"), () =>
  requestAnimationFrame(() => channel.port2.postMessage(0)));
`;

async function bundled(contents) {
  const result = await esbuild.build({
    stdin: { contents, resolveDir: folder },
    bundle: true, minify: true, write: false, outdir: "out", format: "esm", target: "es2022", mainFields: ["browser", "module", "main"],
    alias: { "@pyroscope/flamegraph": join(folder, "node_modules/@pyroscope/flamegraph/dist/index.js") },
    define: { "process.env.NODE_ENV": '"production"', global: "window" }, logLevel: "error",
  });
  return result.outputFiles[0].text;
}

const { syntheticTree } = await load("test/flame-encode.ts");
const tree = syntheticTree({ n: nNodes });
const release = join(folder, "node_modules/speedscope/dist/release");
const files = Object.fromEntries(readdirSync(release).map((name) => [`/${name}`, readFileSync(join(release, name))]));
const server = await serve({
  ...files,
  "/profile.json": eventsOf(tree),
  "/flamebearer.json": flamebearerOf(tree),
  "/pyroscope.js": await bundled(PYROSCOPE),
  "/pyroscope.html": '<!doctype html><meta charset="utf-8"><div id="host" style="width:1440px"></div><script type="module" src="/pyroscope.js"></script>',
});
const browser = await launch();

async function measure(what, path, prepare) {
  const paints = [];
  for (let round = 0; round < nRounds; round++) {
    const page = await open(browser, "about:blank");
    if (prepare) await page.addInitScript(prepare);
    await page.goto(`${server.url}${path}`);
    await page.waitForFunction(() => window.hearthDone, null, { timeout: 300_000 });
    paints.push(await page.evaluate(() => window.hearthDone - window.hearthStart));
    await page.context().close();
  }
  console.log(`| ${what}: data at hand -> first paint, ${nNodes} nodes | ${quantile(paints, 0.5).toFixed(0)} ms |`);
}

await measure("speedscope 1.25.0", `/index.html#profileURL=${encodeURIComponent(`${server.url}/profile.json`)}`, watch);
await measure("@pyroscope/flamegraph 0.35.6", "/pyroscope.html");
await browser.close();
server.close();
