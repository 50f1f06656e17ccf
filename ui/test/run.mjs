// SPDX-License-Identifier: Apache-2.0
// Runs the unit tests: bundles each test/*.test.ts and src/**/*.test.ts whose path has one of the words, and gives them to
// node --test. Ends with the line that ./check counts.
//
//   node test/run.mjs [WORD...]

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const words = process.argv.slice(2);

function* testsIn(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "browser") yield* testsIn(path);
    else if (/\.test\.tsx?$/.test(entry.name)) yield path;
  }
}

const tests = [...testsIn(join(root, "test")), ...testsIn(join(root, "src"))].filter(
  (path) => words.length === 0 || words.some((word) => path.includes(word)),
);
const scratch = mkdtempSync(join(tmpdir(), "hearth-ui-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
await esbuild.build({
  absWorkingDir: root,
  entryPoints: tests.map((path) => ({ in: path, out: relative(root, path).replaceAll("/", "_").replace(/\.tsx?$/, "") })),
  bundle: true,
  platform: "node",
  format: "esm",
  outExtension: { ".js": ".mjs" },
  outdir: scratch,
  sourcemap: "inline",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".css": "empty" },
  logLevel: "warning",
});
const files = readdirSync(scratch).map((name) => join(scratch, name));
/* The reporter for people where it is not the default (Node 18 writes TAP into pipes). */
const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=tap", ...files], {
  encoding: "utf8",
  maxBuffer: 1 << 28,
  env: { ...process.env, HEARTH_UI: root },
});
const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(run.stdout)?.[1] ?? 0);
if (run.status !== 0) process.stdout.write(run.stdout + run.stderr);
console.log(`${count("pass")} passed, ${count("fail")} failed, ${count("skipped")} skipped`);
process.exitCode = run.status === 0 ? 0 : 1;
