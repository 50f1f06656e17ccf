// SPDX-License-Identifier: Apache-2.0
// Runs the tests in a real browser against the real server: bundles tests/*.ts and gives them Chromium. Needs `make` before,
// and Chromium in PATH (or in $CHROMIUM); without it everything is skipped. Ends with the line that ./check counts.
//
//   node test/browser/run.mjs [WORD...]      only tests whose file or name has one of the words

import { accessSync, constants, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const ui = join(here, "../..");

/** The browser's path, or null. */
export function findChromium() {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const places = (process.env.PATH ?? "").split(delimiter).concat("/usr/bin");
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : places.flatMap((place) => names.map((name) => join(place, name)));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }) ?? null;
}

/** Bundles `source`, written as if it stood in this folder, and imports it. */
export async function importBundle(source) {
  const scratch = mkdtempSync(join(tmpdir(), "hearth-browser-"));
  process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
  const outfile = join(scratch, "tests.mjs");
  await esbuild.build({
    stdin: { contents: source, resolveDir: here, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    sourcemap: "inline",
    logLevel: "warning",
  });
  return await import(pathToFileURL(outfile).href);
}

async function run(words) {
  const executablePath = findChromium();
  if (!executablePath) {
    console.log("skip browser: no chromium in PATH (apt install chromium), nor one named by $CHROMIUM");
    console.log("0 passed, 0 failed, 1 skipped");
    return 0;
  }
  const { chromium } = await import("playwright-core");
  const files = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".ts")).sort();
  const source = files.map((name) => `import "./tests/${name}";`).join("\n");
  const { main } = await importBundle(`${source}\nexport { main } from "./harness.ts";`);
  return await main({ chromium, executablePath, ui, words });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await run(process.argv.slice(2));
