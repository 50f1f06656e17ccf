// SPDX-License-Identifier: Apache-2.0
// Bytes of flame graphs on the wire, beside the same ones as the JSON that Grafana's panel takes, both by gzip.
//
//   node bench/wire.mjs [FILE...]      files of docs/format-flame.md; a synthetic tree and an example unless given

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { load, root } from "./browser.mjs";

const { encodeFlame, syntheticTree } = await load("test/flame-encode.ts");
const { decodeFlame, nestedSets } = await load("bench/nested.ts");
const files = process.argv.slice(2);
const trees = files.map((path) => [basename(path), readFileSync(path)]);
if (files.length === 0) {
  trees.push(["synthetic", encodeFlame(syntheticTree({ n: 1_000_000 }))]);
  trees.push(["synthetic, a tenth of the nodes", encodeFlame(syntheticTree({ n: 100_000 }))]);
  trees.push(["an example", readFileSync(join(root, "../tests/golden/page-checkout.flame"))]);
}

console.log("| tree | nodes | ours, raw and gzip | nested-set JSON, raw and gzip | ours / JSON, by gzip |\n|---|---|---|---|---|");
const kB = (n) => `${(n / 1e3).toFixed(1)}`;
for (const [name, bytes] of trees) {
  const tree = decodeFlame(new Uint8Array(bytes));
  const json = Buffer.from(nestedSets(tree));
  const [ours, theirs] = [gzipSync(bytes).length, gzipSync(json).length];
  console.log(`| ${name} | ${tree.n} | ${kB(bytes.length)} and ${kB(ours)} kB | ${kB(json.length)} and ${kB(theirs)} kB | ${(ours / theirs).toFixed(2)} |`);
}
