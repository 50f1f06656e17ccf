// SPDX-License-Identifier: Apache-2.0
// From an empty browser to a flame graph of `hearth demo` that answers the pointer, over loopback, and how many bytes that takes.
// Needs `make` before.
//
//   node bench/cold.mjs [--rounds N]

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { launch, load, option, quantile, root, row } from "./browser.mjs";

const nRounds = option("rounds", 7);
const binary = join(root, "../build/release/hearth");
const { Hearth } = await load("test/browser/hearth.ts");

/** In the page: points at the graph in each frame until a tooltip is there, and remembers when that was. */
function watch() {
  const look = () => {
    const stage = document.querySelector(".flame-stage");
    if (stage) {
      const { left, top, width } = stage.getBoundingClientRect();
      stage.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width / 2, clientY: top + 5, pointerType: "mouse", bubbles: true }));
    }
    if (document.querySelector(".frame-tip")) window.hearthReady = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

const server = await Hearth.start(binary);
const demo = spawn(binary, ["demo", "--url", server.url, "--duration", "30s"], { stdio: "ignore" });
await once(demo, "exit");
const browser = await launch();
const [times, cpus, sizes] = [[], [], []];
for (let round = 0; round < nRounds; round++) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let size = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (size += encodedDataLength));
  await session.send("Network.enable");
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.addInitScript(watch);
  await page.goto(`${server.url}/explore?query=shop.cpu`, { waitUntil: "commit" });
  await page.waitForFunction(() => window.hearthReady, null, { timeout: 60_000 });
  const { metrics } = await session.send("Performance.getMetrics");
  times.push(await page.evaluate(() => window.hearthReady));
  cpus.push(metrics.find(({ name }) => name === "TaskDuration").value * 1000);
  sizes.push(size);
  await context.close();
}
row("cold load on loopback -> a flame graph of the demo that answers the pointer, p50 / p95", `${quantile(times, 0.5).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)} ms`, quantile(cpus, 0.5), "<= 500 ms");
row("bytes on the wire until then", `${(quantile(sizes, 0.5) / 1e3).toFixed(0)} kB`, null, "");
await browser.close();
await server.stop();
