// SPDX-License-Identifier: Apache-2.0
// Times of the waterfall of a trace in headless Chromium with software rendering, as medians, for bench/RESULTS.md.
//
//   node bench/waterfall.mjs [--spans N] [--steps N]

import { launch, load, ms, open, option, quantile, row, serve, withCpu } from "./browser.mjs";

const nSpans = option("spans", 10_000);
const nSteps = option("steps", 100);

const { syntheticTrace } = await load("test/traces-made.ts");
const server = await serve({ "/trace.json": JSON.stringify(syntheticTrace(nSpans)) }, "bench/waterfall.tsx");
const browser = await launch();
console.log(`| ${nSpans} spans | by the clock | CPU of the main thread | wanted |\n|---|---|---|---|`);

for (const [label, size] of [["1440x900", { ratio: 1 }], ["2560x1440, ratio 2", { width: 2560, height: 1440, ratio: 2 }]]) {
  const page = await open(browser, server.url, size);
  const bytes = await page.evaluate(() => window.bench.fetch("/trace.json"));
  const { result, cpu } = await withCpu(page, () => page.evaluate(() => window.bench.show()));
  row(`${(bytes / 1e6).toFixed(1)} MB of JSON at hand -> first rows, ${label}`, `${ms(result.paint)} ms, ${ms(result.prepare)} of them reading`, cpu, "");
  for (const [kind, wanted] of [["scroll", "<= 8 / 16 ms"], ["fling", "<= 16 ms at p95"], ["zoom", "<= 8 / 16 ms"], ["pan", "<= 8 / 16 ms"], ["walk", "<= 16 ms at p95"], ["close", ""], ["find", ""]]) {
    await page.evaluate((given) => window.bench.frames(given, 6), kind);
    const run = await withCpu(page, () => page.evaluate(([given, n]) => window.bench.frames(given, n), [kind, nSteps]));
    row(`${kind}, a frame p50 / p95, ${label}`, `${ms(quantile(run.result, 0.5))} / ${ms(quantile(run.result, 0.95))} ms`, run.cpu / nSteps, wanted);
  }
  await page.context().close();
}
await browser.close();
server.close();
