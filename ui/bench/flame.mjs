// SPDX-License-Identifier: Apache-2.0
// Times of the flame graph in headless Chromium with software rendering, as medians, for bench/RESULTS.md.
//
//   node bench/flame.mjs [--rounds N] [--quick]
//
// Each round opens a fresh page. Frames are those of a whole main thread, see page.ts.

import { gzipSync } from "node:zlib";
import { launch, load, open, quantile, serve } from "./browser.mjs";

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const nRounds = option("rounds", process.argv.includes("--quick") ? 3 : 7);
const nSteps = 80;

const { encodeFlame, syntheticTree } = await load("test/flame-encode.ts");
const trees = {
  "1m": encodeFlame(syntheticTree({ n: 1_000_000 })),
  "100k": encodeFlame(syntheticTree({ n: 100_000 })),
  "1m-f64": encodeFlame(syntheticTree({ n: 1_000_000, scale: 10_007 })),
  "1m-diff": encodeFlame({ ...syntheticTree({ n: 1_000_000, nColumns: 2 }), factor: 1.25 }),
};
const server = await serve(Object.fromEntries(Object.entries(trees).map(([name, bytes]) => [`/${name}.flame`, bytes])));
const browser = await launch();

const rows = [];
const ms = (value) => value.toFixed(1);
const pair = (values) => `${ms(quantile(values, 0.5))} / ${ms(quantile(values, 0.95))}`;
const row = (what, result, wanted) => {
  rows.push(`| ${what} | ${result} | ${wanted} |`);
  console.log(rows.at(-1));
};

/** A fresh page that has the bytes of a tree. */
async function openWith(name, size) {
  const page = await open(browser, server.url, size);
  await page.evaluate((path) => window.bench.fetch(path), `/${name}.flame`);
  return page;
}

async function firstPaint(name, options = {}) {
  const paints = [];
  const decodes = [];
  for (let round = 0; round < nRounds; round++) {
    const page = await openWith(name);
    const { decode, paint } = await page.evaluate((given) => window.bench.show(given), options);
    paints.push(paint);
    decodes.push(decode);
    await page.context().close();
  }
  return `${ms(quantile(paints, 0.5))} ms (decoding ${ms(quantile(decodes, 0.5))}; worst ${ms(Math.max(...paints))})`;
}

async function frames(name, size, options = {}) {
  const page = await openWith(name, size);
  await page.evaluate((given) => window.bench.show(given), options);
  const result = {};
  for (const kind of ["zoom", "pan", "scroll", "hover"]) {
    await page.evaluate(([given]) => window.bench.frames(given, 10), [kind]);
    if (kind !== "hover") await page.evaluate(() => window.bench.frames("zoom", 6));
    result[kind] = await page.evaluate(([given, n]) => window.bench.frames(given, n), [kind, nSteps]);
  }
  result.click = await page.evaluate(() => window.bench.clickZoom(6));
  await page.context().close();
  return result;
}

async function searches() {
  const words = ["json", "function_1", "runtime.*a$", "cart", "sql.function_2", "total"];
  const first = [];
  const warm = [];
  for (let round = 0; round < nRounds; round++) {
    const page = await openWith("1m");
    await page.evaluate(() => window.bench.show());
    await page.evaluate(() => window.bench.frames("zoom", 2));
    for (let i = 0; i < words.length; i++) {
      const word = words[(i + round) % words.length];
      (i === 0 ? first : warm).push((await page.evaluate((text) => window.bench.search(text), word)).frame);
      await page.evaluate(() => window.bench.endSearch());
    }
    await page.context().close();
  }
  return { first, warm };
}

async function memory(name) {
  const page = await openWith(name);
  const used = () => page.evaluate(() => (window.gc(), performance.memory.usedJSHeapSize));
  await page.evaluate(() => window.bench.show());
  await page.evaluate(() => window.bench.search("json"));
  await page.evaluate(() => window.bench.dropBytes());
  await page.waitForTimeout(300);
  const heap = await used();
  const arrays = await page.evaluate(() => window.bench.arrays());
  await page.context().close();
  return `${(heap / 1e6).toFixed(1)} + ${(arrays / 1e6).toFixed(1)} MB`;
}

row("data at hand -> first paint, 1 M nodes", await firstPaint("1m"), "<= 100 ms");
row("the same, 100 k nodes", await firstPaint("100k"), "<= 60 ms");
row("the same, 1 M nodes, values of 64 bits", await firstPaint("1m-f64"), "");
row("the same, 1 M nodes, a diff", await firstPaint("1m-diff", { colour: "diff" }), "");
for (const [label, size, wanted] of [
  ["1440x900", { ratio: 1 }, "<= 4 / 8 ms"],
  ["1440x900 at ratio 2", { ratio: 2 }, "<= 12 ms at p95"],
]) {
  const result = await frames("1m", size);
  for (const [kind, times] of Object.entries(result)) row(`${kind}, frame p50 / p95, ${label}`, `${pair(times)} ms`, kind === "hover" ? "<= 8 ms" : wanted);
}
const diff = await frames("1m-diff", { ratio: 1 }, { colour: "diff" });
row("zoom, frame p50 / p95, a diff", `${pair(diff.zoom)} ms`, "");
const { first, warm } = await searches();
row("search with matched share until the frame is done, first", `${ms(quantile(first, 0.5))} ms`, "<= 50 ms");
row("the same, warm p50 / p95", `${pair(warm)} ms`, "<= 25 ms");
row("JS heap + columns, with a search", await memory("1m"), "<= 20 MB");
row("the same, values of 64 bits", await memory("1m-f64"), "<= 28 MB");
const size = trees["1m"].length;
row("bytes, raw and gzip", `${(size / 1e6).toFixed(2)} and ${(gzipSync(trees["1m"]).length / 1e6).toFixed(2)} MB`, "");
await browser.close();
server.close();
