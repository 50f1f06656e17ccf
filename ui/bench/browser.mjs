// SPDX-License-Identifier: Apache-2.0
// Serves the bench page with trees made here, and opens it in the system's Chromium.

import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const PAGE = `<!doctype html><meta charset="utf-8"><title>bench</title><link rel="stylesheet" href="/page.css">
<div id="host"></div><script type="module" src="/page.js"></script>`;
const SIZES = "html,body{margin:0;height:100%}#host{height:100%}";

/** A module of the tests, bundled for Node. */
export async function load(path) {
  const folder = mkdtempSync(join(tmpdir(), "hearth-bench-"));
  const outfile = join(folder, "module.mjs");
  await esbuild.build({ absWorkingDir: root, entryPoints: [path], bundle: true, platform: "node", format: "esm", outfile, logLevel: "warning" });
  const module = await import(pathToFileURL(outfile));
  rmSync(folder, { recursive: true });
  return module;
}

/** files: path -> bytes or text, beside the page itself, whose script is `entry`. Returns { url, close }. */
export async function serve(files, entry = "bench/page.ts") {
  const built = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    outdir: "out",
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
  });
  const find = (ending) => built.outputFiles.find((file) => file.path.endsWith(ending))?.text ?? "";
  const all = new Map([["/", PAGE], ["/page.js", find(".js")], ["/page.css", find(".css") + SIZES], ...Object.entries(files)]);
  const types = { js: "text/javascript", css: "text/css", html: "text/html", json: "application/json" };
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    const body = all.get(path);
    if (body === undefined) return response.writeHead(404).end();
    const type = path === "/" ? "text/html" : (types[path.split(".").at(-1)] ?? "application/octet-stream");
    return response.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info", "--js-flags=--expose-gc"] });
}

/** A fresh page; errors in it end the run. */
export async function open(browser, url, { width = 1440, height = 900, ratio = 1 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: ratio });
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    console.error(error);
    process.exit(1);
  });
  await page.goto(url);
  return page;
}

/** Runs something in the page; returns what it returns, and the milliseconds of CPU that the page's main thread took. These
 *  hold on a busy machine, where times by the clock do not. */
export async function withCpu(page, run) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const taken = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  const before = await taken();
  const result = await run();
  const cpu = (await taken()) - before;
  await session.detach();
  return { result, cpu };
}

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/** A number given as --NAME N. */
export function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

export function ms(value) {
  return value.toFixed(1);
}

/** Prints a line of a table; null where no CPU was measured. */
export function row(what, result, cpu, wanted) {
  console.log(`| ${what} | ${result} | ${cpu === null ? "" : `${ms(cpu)} ms`} | ${wanted} |`);
}
