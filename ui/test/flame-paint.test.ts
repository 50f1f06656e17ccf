// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Colours, type Colouring, contrast, coloursFor, packageOf, placeOfName } from "../src/flame/colour.ts";
import { decodeFlame } from "../src/flame/decode.ts";
import { LabelList, type Scene, diffIndex, paintLevel } from "../src/flame/paint.ts";
import { Search } from "../src/flame/search.ts";
import { type FlameTree, INLINED, OTHER } from "../src/flame/tree.ts";
import { encodeFlame, randomFrom, syntheticTree } from "./flame-encode.ts";

/** Paints a level by the rules P1 to P3, pixel by pixel, visiting every node. Shares nothing with the painter. */
function paintPlainly(scene: Scene, level: number): Uint32Array {
  const { tree, colours, v0, v1, nPixels } = scene;
  const row = new Uint32Array(nPixels).fill(colours.background);
  const owners = new Map<number, number>();
  const marks = new Set<number>();
  const lights = new Set<number>();
  const isHit = (node: number) => scene.hits !== null && (scene.hits[Math.trunc(node / 32)] & (2 ** (node % 32) | 0)) !== 0;
  const pixelOf = (value: number) => ((value - v0) / (v1 - v0)) * nPixels;
  for (let node = tree.levelStart[level]; node < tree.levelStart[level + 1]; node++) {
    const begin = tree.left[node];
    const end = begin + tree.width[node];
    if (end <= v0 || begin >= v1) continue;
    const span = pixelOf(end) - pixelOf(begin);
    const firstPixel = pixelOf(begin) - (((pixelOf(begin) % 1) + 1) % 1);
    if (span < 1) {
      const pixel = Math.max(0, Math.round(firstPixel));
      marks.add(pixel);
      if (isHit(node)) lights.add(pixel);
      continue;
    }
    const pixels = [];
    for (let p = Math.round(firstPixel); p + 1 <= pixelOf(end); p++) {
      pixels.push(p);
      if (p > nPixels) break;
    }
    if (pixelOf(end) > nPixels + 2) pixels.push(nPixels, nPixels + 1, nPixels + 2);
    if (pixels.length > 2) pixels.pop();
    for (const p of pixels) if (p >= 0 && p < nPixels) owners.set(p, node);
  }
  for (let p = 0; p < nPixels; p++) {
    const owner = owners.get(p);
    if (lights.has(p) && !(owner !== undefined && isHit(owner))) row[p] = colours.lit;
    else if (owner !== undefined) row[p] = plainColour(tree, colours, owner, scene.hits !== null, isHit(owner));
    else if (marks.has(p)) row[p] = colours.thin;
  }
  return row;
}

function plainColour(tree: FlameTree, colours: Colours, node: number, isSearching: boolean, isHit: boolean): number {
  const flag = tree.flags?.[node] ?? 0;
  if (isHit && colours.ofName) return colours.hit;
  let place = colours.ofName ? placeOfName(colours, tree.name[node]) : diffIndex(tree, node, colours.plain.length);
  if (flag & OTHER) place = 0;
  if (isSearching && !isHit) return colours.dim[place];
  return flag & INLINED ? colours.soft[place] : colours.plain[place];
}

function checkViews(tree: FlameTree, colouring: Colouring, hits: Uint32Array | null, seed: number): void {
  const random = randomFrom(seed);
  const colours = coloursFor(tree, colouring, "light");
  const total = tree.width[0];
  for (let view = 0; view < 12; view++) {
    const span = view === 0 ? total : total * 10 ** (-4 * random());
    const v0 = view === 0 ? 0 : (total - span) * random();
    const scene: Scene = { tree, colours, hits, v0, v1: v0 + span, nPixels: 150 + Math.floor(random() * 900) };
    const row = new Uint32Array(scene.nPixels + 2);
    for (let level = 0; level < tree.depth; level++) {
      paintLevel(scene, level, row, 1, null);
      const plain = paintPlainly(scene, level);
      for (let p = 0; p < scene.nPixels; p++)
        if (row[p + 1] !== plain[p])
          assert.fail(`view ${view} (${v0}, ${v0 + span}), level ${level}, pixel ${p} of ${scene.nPixels}: ${row[p + 1].toString(16)} instead of ${plain[p].toString(16)}`);
      assert.equal(row[0], 0);
      assert.equal(row[scene.nPixels + 1], 0);
    }
  }
}

test("the painter paints the same pixels as one that visits every node", () => {
  for (let seed = 1; seed <= 4; seed++) {
    const tree = decodeFlame(encodeFlame(syntheticTree({ n: 30_000, nNames: 500, maxDepth: 12 * seed, seed })));
    checkViews(tree, "package", null, seed);
    checkViews(tree, "heat", new Search(tree, /function_1/).hits, seed);
    checkViews(tree, "kind", new Search(tree, /function_a$/).hits, seed);
  }
});

test("so it does for differences, values with signs, and large values", () => {
  const diff = decodeFlame(encodeFlame({ ...syntheticTree({ n: 20_000, nNames: 300, maxDepth: 30, nColumns: 2 }), factor: 0.37 }));
  checkViews(diff, "diff", null, 1);
  checkViews(diff, "diff", new Search(diff, /[ab]$/).hits, 2);
  const signed = decodeFlame(encodeFlame(syntheticTree({ n: 20_000, nNames: 300, maxDepth: 30, isSigned: true })));
  checkViews(signed, "module", null, 3);
  const large = decodeFlame(encodeFlame(syntheticTree({ n: 20_000, nNames: 300, maxDepth: 30, scale: 2 ** 40 })));
  assert.ok(large.left instanceof Float64Array);
  checkViews(large, "package", new Search(large, /z/).hits, 4);
});

test("labels are listed for what is wide enough, cut to what is seen", () => {
  const tree = decodeFlame(encodeFlame({ depths: [0, 1, 1], nodeNames: [0, 1, 2], selfs: [[0, 90, 10]], names: ["total", "a", "b"] }));
  const scene: Scene = { tree, colours: coloursFor(tree, "package", "dark"), hits: null, v0: 50, v1: 100, nPixels: 100 };
  const labels = new LabelList(24);
  paintLevel(scene, 1, new Uint32Array(100), 0, labels);
  assert.deepEqual([...labels.numbers.subarray(0, labels.n * 4)], [0, 79, 1, 1]);
  labels.minimum = 10;
  labels.n = 0;
  paintLevel(scene, 1, new Uint32Array(100), 0, labels);
  assert.deepEqual([...labels.numbers.subarray(0, labels.n * 4)], [0, 79, 1, 1, 80, 19, 1, 2]);
});

test("an empty tree and a level that is not there are background", () => {
  const tree = decodeFlame(encodeFlame({ depths: [0], nodeNames: [0], selfs: [[0]], names: ["total"] }));
  const colours = coloursFor(tree, "diff", "light");
  const row = new Uint32Array(10);
  for (const [v0, v1, level] of [[0, 0, 0], [0, 1, 5], [NaN, NaN, 0]]) {
    paintLevel({ tree, colours, hits: null, v0, v1, nPixels: 10 }, level, row.fill(0), 0, null);
    assert.ok(row.every((pixel) => pixel === colours.background));
  }
});

test("the colour of a difference follows from its share of both sides", () => {
  const selfs = [[0, 10, 0, 5, 0, 9], [0, 0, 10, 5, 0, 11]];
  const tree = decodeFlame(encodeFlame({ depths: [0, 1, 1, 1, 1, 2], nodeNames: [0, 1, 2, 3, 4, 5], selfs, names: ["total", "gone", "new", "same", "x", "more"] }));
  const of = (name: string) => diffIndex(tree, Array.from(tree.name).findIndex((id) => tree.names[id] === name), 18);
  assert.deepEqual([of("gone"), of("same"), of("new")], [1, 9, 17]);
  assert.ok(of("more") > 9 && of("more") < 14);
  assert.equal(of("x"), of("more"));
});

test("the text on every frame has the contrast that WCAG AA asks for", () => {
  const tree = decodeFlame(encodeFlame(syntheticTree({ n: 50, nNames: 20, nColumns: 2 })));
  for (const theme of ["light", "dark"] as const)
    for (const colouring of ["package", "diff", "heat"] as const) {
      const colours = coloursFor(tree, colouring, theme);
      for (const table of [colours.plain, colours.soft, colours.dim])
        for (const colour of table) assert.ok(contrast(colour, colours.text) >= 4.5, `${theme} ${colouring} ${colour.toString(16)}: ${contrast(colour, colours.text)}`);
      assert.ok(contrast(colours.hit, colours.hitText) >= 4.5);
      assert.ok(contrast(colours.lit, colours.background) >= 4.5);
      assert.ok(contrast(colours.hover, colours.background) >= 3);
    }
});

test("the package of a function is found in names of several languages", () => {
  const cases = {
    "github.com/acme/cart.(*Store).Put": "github.com/acme/cart",
    "net/http.HandlerFunc.ServeHTTP": "net/http",
    "runtime.mallocgc": "runtime",
    "std::vec::Vec<T>::push": "std",
    "com.acme.cart.Store.put": "com.acme.cart",
    "_int_malloc": "libc.so.6",
    "": "libc.so.6",
    ".L42": "libc.so.6",
  };
  const names = ["total", ...Object.keys(cases)];
  const tree = decodeFlame(
    encodeFlame({ depths: names.map((_, i) => (i ? 1 : 0)), nodeNames: names.map((_, i) => i), selfs: [names.map((_, i) => (i ? 1 : 0))], names, texts: ["/lib/libc.so.6"], details: names.map(() => ({ kind: 1, module: 1, file: 0, line: 0 })) }),
  );
  Object.values(cases).forEach((group, i) => assert.equal(packageOf(tree, i + 1), group));
});
