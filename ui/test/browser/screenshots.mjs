// SPDX-License-Identifier: Apache-2.0
// Makes docs/images: each view at 1280x800, light and dark, with the data of the tests. `make screenshots` runs it.
//
//   node test/browser/screenshots.mjs [WORD...]      only pictures whose name has one of the words

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium, importBundle } from "./run.mjs";

const ui = join(dirname(fileURLToPath(import.meta.url)), "../..");
const executablePath = findChromium();
if (!executablePath) {
  console.error("screenshots: no chromium in PATH (apt install chromium), nor one named by $CHROMIUM");
  process.exit(1);
}
const { chromium } = await import("playwright-core");
const { shoot } = await importBundle('export { shoot } from "./screenshots.ts";');
await shoot({ chromium, executablePath, ui, words: process.argv.slice(2) });
