// SPDX-License-Identifier: Apache-2.0
// Bundles the page into a folder (first argument, ../build/ui unless given): index.html, assets/NAME-HASH.{js,css},
// offline.html, the shell of self-contained files, and assets/licenses.txt, the notices of what others wrote that is in
// them. Views that are imported on demand become scripts of their own; all styles are one file. The Makefile compresses and
// embeds what is there.
//
//   node build.mjs [FOLDER] [--watch]

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const folder = resolve(words[0] ?? join(here, "../build/ui"));
const watches = process.argv.includes("--watch");

/* What uPlot hangs on its class for others, at the end of its file: kinds of lines that we do not draw, joins of tables. As
 * long as they hang there they are shipped. */
const PLOT_EXTRAS = /^uPlot\.assign = assign;$.*^(?=export )/ms;

const plotWithoutExtras = {
  name: "plot-without-extras",
  setup(build) {
    build.onLoad({ filter: /uPlot\.esm\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!PLOT_EXTRAS.test(text)) throw new Error(`${path} ends in another way than it did: look at what is hung on uPlot there`);
      return { contents: text.replace(PLOT_EXTRAS, "uPlot.tzDate = tzDate;\n") };
    });
  },
};

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
  metafile: true,
  logLevel: "warning",
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [plotWithoutExtras],
};

/** The outputs of one entry as one script and one style: { js, css } as bytes, and the names of the packages in them. */
async function bundle(entry, options = {}) {
  const result = await esbuild.build({ ...common, ...options, entryPoints: [entry] });
  const find = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending))?.contents ?? new Uint8Array();
  const inputs = Object.keys(result.metafile.inputs).map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return { js: find(".js"), css: find(".css"), packages: [...new Set(inputs.filter(Boolean))].sort() };
}

/** The scripts of one entry, split where it imports on demand, under names that change with their content: those that the
 * entry needs at once, itself last, and all of them as name -> text. */
async function bundleScripts(entry, options) {
  const result = await esbuild.build({
    ...common, ...options, entryPoints: [entry], splitting: true, loader: { ".css": "empty" }, entryNames: "hearth", chunkNames: "[name]-[hash]",
  });
  const texts = new Map(result.outputFiles.map((file) => [basename(file.path), file.text]));
  const imports = new Map(Object.entries(result.metafile.outputs).map(([path, output]) => [basename(path), output.imports]));
  const names = new Map();
  const scripts = new Map();
  /* What a script imports is named first, since its own name comes from a text with those names in it. */
  const name = (old) => {
    if (names.has(old)) return;
    names.set(old, null);
    let text = texts.get(old);
    for (const imported of imports.get(old)) {
      const other = basename(imported.path);
      name(other);
      if (!names.get(other)) throw new Error(`${old} and ${other} import each other, so that neither can be named`);
      text = text.replaceAll(`"./${other}"`, `"./${names.get(other)}"`);
    }
    names.set(old, hashed(old.replace(/(-[A-Z0-9]+)?\.js$/, "").toLowerCase(), "js", text));
    scripts.set(names.get(old), text);
  };
  name("hearth.js");
  const first = new Set();
  const need = (old) => {
    for (const { path, kind } of imports.get(old)) if (kind === "import-statement") need(basename(path));
    first.add(names.get(old));
  };
  need("hearth.js");
  return { first: [...first], scripts };
}

/** The licences of packages, which must go wherever their code goes. */
async function licences(packages) {
  const texts = packages.map(async (name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return `${name} ${version} (${license})\n\n${(await readFile(join(folder, "LICENSE"), "utf8")).trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

/** A name that changes with the content, so that browsers may keep it for ever. */
function hashed(name, ending, content) {
  return `${name}-${createHash("sha256").update(content).digest("hex").slice(0, 12)}.${ending}`;
}

async function buildPage() {
  const { css, packages } = await bundle("src/main.tsx");
  const { first, scripts } = await bundleScripts("src/main.tsx", { banner: { js: "/* Licences: licenses.txt beside this file. */" } });
  const style = hashed("hearth", "css", css);
  const shell = await readFile(join(here, "index.html"), "utf8");
  const preloads = first.slice(0, -1).map((script) => `<link rel="modulepreload" href="assets/${script}">`);
  await mkdir(join(folder, "assets"), { recursive: true });
  for (const [script, text] of scripts) await writeFile(join(folder, "assets", script), text);
  await writeFile(join(folder, "assets", style), css);
  await writeFile(join(folder, "assets", "licenses.txt"), await licences(packages));
  await writeFile(
    join(folder, "index.html"),
    shell.replace("@PRELOADS@", preloads.join("\n    ")).replace("@SCRIPT@", `assets/${first.at(-1)}`).replace("@STYLE@", `assets/${style}`),
  );
}

/** A file of its own: script, style and licences are in it; the data comes at the mark @DATA@, the title at @TITLE@. */
async function buildOffline() {
  const { js, css, packages } = await bundle("src/offline.tsx", { format: "iife" });
  const notices = (await licences(packages)).replaceAll("--", "- -");
  const shell = await readFile(join(here, "offline.html"), "utf8");
  const text = (bytes) => Buffer.from(bytes).toString("utf8");
  const script = text(js).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  await writeFile(
    join(folder, "offline.html"),
    shell
      .replace("@LICENCES@", () => notices)
      .replace("@STYLE@", () => text(css))
      .replace("@SCRIPT@", () => script),
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
