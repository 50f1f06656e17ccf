// SPDX-License-Identifier: Apache-2.0
// Bundles the page into a folder (first argument, ../build/ui unless given): index.html, assets/NAME-HASH.{js,css} and
// offline.html, the shell of self-contained files. The Makefile compresses and embeds what is there.
//
//   node build.mjs [FOLDER] [--watch]

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const folder = resolve(words[0] ?? join(here, "../build/ui"));
const watches = process.argv.includes("--watch");

const common = {
  absWorkingDir: here,
  bundle: true,
  write: false,
  outdir: "out",
  minify: !watches,
  sourcemap: false,
  target: ["es2022"],
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
  define: { "process.env.NODE_ENV": '"production"' },
};

/** The outputs of one entry: { js, css } as bytes. */
async function bundle(entry, options = {}) {
  const result = await esbuild.build({ ...common, ...options, entryPoints: [entry] });
  const find = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending))?.contents ?? new Uint8Array();
  return { js: find(".js"), css: find(".css") };
}

/** A name that changes with the content, so that browsers may keep it for ever. */
function hashed(name, ending, content) {
  return `${name}-${createHash("sha256").update(content).digest("hex").slice(0, 12)}.${ending}`;
}

async function buildPage() {
  const { js, css } = await bundle("src/main.tsx");
  const script = hashed("hearth", "js", js);
  const style = hashed("hearth", "css", css);
  const shell = await readFile(join(here, "index.html"), "utf8");
  await mkdir(join(folder, "assets"), { recursive: true });
  await writeFile(join(folder, "assets", script), js);
  await writeFile(join(folder, "assets", style), css);
  await writeFile(
    join(folder, "index.html"),
    shell.replaceAll("@SCRIPT@", `assets/${script}`).replaceAll("@STYLE@", `assets/${style}`),
  );
}

/** A file of its own: script and style are in it; the data comes at the mark @DATA@, the title at @TITLE@. */
async function buildOffline() {
  const { js, css } = await bundle("src/offline.tsx", { format: "iife" });
  const shell = await readFile(join(here, "offline.html"), "utf8");
  const text = (bytes) => Buffer.from(bytes).toString("utf8");
  const script = text(js).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  await writeFile(
    join(folder, "offline.html"),
    shell.replace("@STYLE@", () => text(css)).replace("@SCRIPT@", () => script),
  );
}

async function build() {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all([buildPage(), buildOffline()]);
}

await build();
if (watches) {
  const { watch } = await import("node:fs");
  let timer;
  watch(join(here, "src"), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => build().catch((error) => console.error(error.message)), 50);
  });
}
