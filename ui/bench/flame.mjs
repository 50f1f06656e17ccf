// SPDX-License-Identifier: Apache-2.0
// Times of the flame graph in headless Chromium with software rendering, as medians, for bench/RESULTS.md.
//
//   node bench/flame.mjs [--rounds N] [--quick]
//
// Each round opens a fresh page. Frames are those of a whole main thread, see page.ts; behind each comes the CPU that the main
// thread took, for machines that have other things to do.

import { launch, load, ms, open, option, quantile, row, serve, withCpu } from "./browser.mjs";

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

console.log("| what | by the clock | CPU of the main thread | wanted |\n|---|---|---|---|");
const pair = (values) => `${ms(quantile(values, 0.5))} / ${ms(quantile(values, 0.95))}`;

/** A fresh page that has the bytes of a tree. */
async function openWith(name, size) {
  const page = await open(browser, server.url, size);
  await page.evaluate((path) => window.bench.fetch(path), `/${name}.flame`);
  return page;
}

async function firstPaint(what, name, wanted, options = {}) {
  const [paints, decodes, cpus] = [[], [], []];
  for (let round = 0; round < nRounds; round++) {
    const page = await openWith(name);
    const { result, cpu } = await withCpu(page, () => page.evaluate((given) => window.bench.show(given), options));
    paints.push(result.paint);
    decodes.push(result.decode);
    cpus.push(cpu);
    await page.context().close();
  }
  row(what, `${ms(quantile(paints, 0.5))} ms, ${ms(quantile(decodes, 0.5))} of them decoding`, quantile(cpus, 0.5), wanted);
}

async function frames(name, size, options = {}) {
  const page = await openWith(name, size);
  await page.evaluate((given) => window.bench.show(given), options);
  const all = [];
  for (const kind of ["zoom", "pan", "scroll", "hover"]) {
    await page.evaluate((given) => window.bench.frames(given, 10), kind);
    if (kind !== "hover") await page.evaluate(() => window.bench.frames("zoom", 6));
    const { result, cpu } = await withCpu(page, () => page.evaluate(([given, n]) => window.bench.frames(given, n), [kind, nSteps]));
    all.push({ kind, times: result, cpu: cpu / nSteps });
  }
  const { result, cpu } = await withCpu(page, () => page.evaluate(() => window.bench.clickZoom(6)));
  all.push({ kind: "click to zoom, animated", times: result, cpu: cpu / result.length });
  await page.context().close();
  return all;
}

async function searches() {
  const words = ["json", "function_1", "runtime.*a$", "cart", "sql.function_2", "total"];
  const [first, warm] = [{ times: [], cpus: [] }, { times: [], cpus: [] }];
  for (let round = 0; round < nRounds; round++) {
    const page = await openWith("1m");
    await page.evaluate(() => window.bench.show());
    await page.evaluate(() => window.bench.frames("zoom", 2));
    for (let i = 0; i < words.length; i++) {
      const word = words[(i + round) % words.length];
      const { result, cpu } = await withCpu(page, () => page.evaluate((text) => window.bench.search(text), word));
      const { times, cpus } = i === 0 ? first : warm;
      times.push(result.frame);
      cpus.push(cpu);
      await page.evaluate(() => window.bench.endSearch());
    }
    await page.context().close();
  }
  return { first, warm };
}

async function memory(what, name, wanted) {
  const page = await openWith(name);
  await page.evaluate(() => window.bench.show());
  await page.evaluate(() => window.bench.search("json"));
  await page.evaluate(() => window.bench.dropBytes());
  for (let i = 0; i < 3; i++) {
    await page.evaluate(() => window.gc());
    await page.waitForTimeout(300);
  }
  const session = await page.context().newCDPSession(page);
  const { usedSize, backingStorageSize } = await session.send("Runtime.getHeapUsage");
  await page.context().close();
  row(what, `${(usedSize / 1e6).toFixed(1)} + ${(backingStorageSize / 1e6).toFixed(1)} MB`, null, wanted);
}

await firstPaint("data at hand -> first paint, 1 M nodes", "1m", "<= 100 ms");
await firstPaint("the same, 100 k nodes", "100k", "<= 60 ms");
await firstPaint("the same, 1 M nodes, values of 64 bits", "1m-f64", "");
await firstPaint("the same, 1 M nodes, a diff", "1m-diff", "", { colour: "diff" });
for (const [label, size, wanted] of [
  ["1440x900", { ratio: 1 }, "<= 4 / 8 ms"],
  ["ratio 2", { ratio: 2 }, "<= 12 ms at p95"],
])
  for (const { kind, times, cpu } of await frames("1m", size))
    row(`${kind}, a frame p50 / p95, ${label}`, `${pair(times)} ms`, cpu, kind === "hover" ? "<= 8 ms" : wanted);
const [zoomed] = await frames("1m-diff", { ratio: 1 }, { colour: "diff" });
row("zoom, a frame p50 / p95, a diff", `${pair(zoomed.times)} ms`, zoomed.cpu, "");
const { first, warm } = await searches();
row("search with matched share until the frame is done, first", `${ms(quantile(first.times, 0.5))} ms`, quantile(first.cpus, 0.5), "<= 50 ms");
row("the same, warm p50 / p95", `${pair(warm.times)} ms`, quantile(warm.cpus, 0.5), "<= 25 ms");
await memory("JS heap + arrays, with a search", "1m", "<= 20 MB");
await memory("the same, values of 64 bits", "1m-f64", "<= 28 MB");
await browser.close();
server.close();
