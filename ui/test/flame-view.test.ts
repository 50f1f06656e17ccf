// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { TreeBuilder, emptyFrame } from "../src/flame/builder.ts";
import { Camera } from "../src/flame/camera.ts";
import { coloursFor } from "../src/flame/colour.ts";
import { decodeFlame } from "../src/flame/decode.ts";
import { type Geometry, levelAt, rowFor, yOfLevel } from "../src/flame/graph.ts";
import { cleanName, shortName } from "../src/flame/labels.ts";
import { dragOverview } from "../src/flame/minimap.ts";
import { betweenRanges, clampRange, enclosingNode, panRange, rangeOf, samePart, zoomRange } from "../src/flame/range.ts";
import { drawSvg, escapeXml } from "../src/flame/svg.ts";
import { type FlameTree, childrenOf, findPath, levelsWithin, nameOf, nodeAt, parentOf, pathOf, rangeWithin, selfOf, selfWidths, valueOf } from "../src/flame/tree.ts";
import { describe, grouped, meaningOf, percent, stepFrom } from "../src/flame/walk.ts";
import { encodeFlame, syntheticTree } from "./flame-encode.ts";

const near = (a: number, b: number) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

/** root(1) > a(2) > [b 3, c 4]; root > d 5 */
function sample(): FlameTree {
  return decodeFlame(encodeFlame({ depths: [0, 1, 2, 2, 1], nodeNames: [0, 1, 2, 3, 4], selfs: [[1, 2, 3, 4, 5]], names: ["total", "a", "b", "c", "d"], unit: "count" }));
}

test("trees are asked for parents, children, paths and places", () => {
  const tree = sample();
  assert.deepEqual(Array.from({ length: 5 }, (_, i) => nameOf(tree, i)), ["total", "a", "d", "b", "c"]);
  assert.deepEqual([0, 1, 2, 3, 4].map((node) => parentOf(tree, node)), [-1, 0, 0, 1, 1]);
  assert.deepEqual(childrenOf(tree, 1), [3, 5]);
  assert.deepEqual(childrenOf(tree, 2), [5, 5]);
  assert.deepEqual(pathOf(tree, 4), [0, 1, 4]);
  assert.deepEqual([0, 2.9, 3, 6.9, 7].map((x) => nodeAt(tree, 2, x)), [3, 3, 4, 4, -1]);
  assert.equal(nodeAt(tree, 9, 0), -1);
  assert.equal(findPath(tree, ["whatever", "a", "c"]), 4);
  assert.equal(findPath(tree, ["total", "a", "x"]), -1);
  assert.equal(findPath(tree, ["total", "a", "x"], true), 1);
  assert.deepEqual([selfOf(tree, 0), selfOf(tree, 1), valueOf(tree, 1)], [1, 2, 9]);
  assert.deepEqual([...selfWidths(tree)], [1, 2, 5, 3, 4]);
  assert.deepEqual(rangeWithin(tree, 1, 2), [3, 5]);
  assert.deepEqual(rangeWithin(tree, 2, 2), [5, 5]);
  assert.deepEqual([levelsWithin(tree, 0, 15), levelsWithin(tree, 8, 15), levelsWithin(tree, 14.5, 15)], [3, 2, 1]);
});

test("arrow keys walk to callers, the widest callee and its neighbours", () => {
  const tree = sample();
  assert.equal(stepFrom(tree, -1, "child"), 0);
  assert.equal(stepFrom(tree, 0, "child"), 1);
  assert.equal(stepFrom(tree, 1, "child"), 4);
  assert.equal(stepFrom(tree, 4, "previous"), 3);
  assert.equal(stepFrom(tree, 4, "next"), 4);
  assert.equal(stepFrom(tree, 1, "next"), 2);
  assert.equal(stepFrom(tree, 2, "child"), 2);
  assert.equal(stepFrom(tree, 4, "parent"), 1);
  assert.equal(stepFrom(tree, 0, "parent"), 0);
  assert.equal(stepFrom(tree, 0, "next"), 0);
});

test("keys mean the same to the eye in both directions", () => {
  const key = (name: string, more = {}) => ({ key: name, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });
  assert.equal(meaningOf(key("ArrowDown"), false), "child");
  assert.equal(meaningOf(key("ArrowDown"), true), "parent");
  assert.equal(meaningOf(key("F10", { shiftKey: true }), false), "menu");
  assert.equal(meaningOf(key("F10"), false), null);
  assert.equal(meaningOf(key("0", { ctrlKey: true }), false), null);
});

test("a frame is told in words", () => {
  assert.equal(describe(sample(), 1, (value) => `${value} samples`), "a, 9 samples, own 2 samples, 60.0 % of all, level 2, 2 callees.");
  const diff = decodeFlame(encodeFlame({ depths: [0, 1], nodeNames: [0, 1], selfs: [[0, 6], [0, 2]], flags: [0, 1], names: ["total", "f"], factor: 2 }));
  assert.equal(describe(diff, 1, String), "f, inlined, before 6, after 4, 100 % of all, level 2, 0 callees.");
  assert.deepEqual([percent(0), percent(1), percent(0.12345), percent(0.00002), percent(NaN)], ["0 %", "100 %", "12.3 %", "0.002 %", "0 %"]);
});

test("digits are grouped", () => {
  assert.deepEqual([0, 999, 1000, 1234567, -1234567, 1234.5, 2 ** 62].map(grouped), ["0", "999", "1,000", "1,234,567", "-1,234,567", "1,234.5", "4,611,686,018,427,388,000"]);
  assert.equal(grouped(1e30), "1e+30");
});

test("ranges stay within everything however they are moved", () => {
  assert.deepEqual(clampRange(-5, 5, 100), { v0: 0, v1: 10 });
  assert.deepEqual(clampRange(95, 105, 100), { v0: 90, v1: 100 });
  assert.deepEqual(clampRange(-50, 500, 100), { v0: 0, v1: 100 });
  assert.deepEqual(clampRange(0, 0, 0), { v0: 0, v1: 0 });
  assert.deepEqual(panRange({ v0: 10, v1: 20 }, 15, 100), { v0: 25, v1: 35 });
  const zoomed = zoomRange({ v0: 0, v1: 100 }, 0.25, 0.5, 100);
  assert.deepEqual(zoomed, { v0: 12.5, v1: 62.5 });
  assert.deepEqual(zoomRange(zoomed, 0.25, 4, 100), { v0: 0, v1: 100 });
  let range = { v0: 0, v1: 2 ** 62 };
  for (let i = 0; i < 500; i++) range = zoomRange(range, 0.3, 0.5, 2 ** 62);
  assert.ok(range.v1 > range.v0);
});

test("a glide begins and ends exactly, and what both ends share stays in place", () => {
  const [from, to] = [{ v0: 0, v1: 100 }, { v0: 40, v1: 41 }];
  assert.deepEqual(betweenRanges(from, to, 0), from);
  assert.deepEqual(betweenRanges(from, to, 1), to);
  const half = betweenRanges(from, to, 0.5);
  near(half.v1 - half.v0, 10);
  const fixed = (100 * 40) / 99; /* the place at the same share of both */
  near((fixed - half.v0) / 10, fixed / 100);
  const moved = betweenRanges({ v0: 0, v1: 10 }, { v0: 50, v1: 60 }, 0.5);
  near(moved.v0, 25);
  near(moved.v1, 35);
});

test("a camera glides and says once that it has arrived", () => {
  const camera = new Camera({ v0: 0, v1: 100 });
  camera.glide({ v0: 10, v1: 20 }, 50, 1000);
  assert.deepEqual(camera.goal, { v0: 10, v1: 20 });
  assert.equal(camera.advance(1100), false);
  assert.ok(camera.range.v0 > 0 && camera.range.v0 < 10 && camera.scroll > 0 && camera.scroll < 50);
  assert.equal(camera.advance(5000), true);
  assert.deepEqual([camera.range, camera.scroll, camera.isMoving], [{ v0: 10, v1: 20 }, 50, false]);
  assert.equal(camera.advance(6000), false);
});

test("the frame that spans what is shown is found", () => {
  const tree = sample();
  assert.equal(enclosingNode(tree, { v0: 0, v1: 15 }), 0);
  for (const node of [1, 2, 3, 4]) assert.equal(enclosingNode(tree, rangeOf(tree, node)), node);
  assert.equal(enclosingNode(tree, { v0: 3.2, v1: 3.4 }), 4);
  const chain = decodeFlame(encodeFlame({ depths: [0, 1, 2], nodeNames: [0, 1, 2], selfs: [[0, 0, 9]], names: ["total", "a", "b"] }));
  assert.equal(enclosingNode(chain, { v0: 0, v1: 9 }), 0);
  assert.deepEqual(samePart({ v0: 12, v1: 14 }, { v0: 10, v1: 20 }, { v0: 0, v1: 100 }, 200), { v0: 20, v1: 40 });
});

test("dragging on the overview moves what is shown, or marks a new part", () => {
  assert.deepEqual(dragOverview({ v0: 20, v1: 40 }, 0.3, 0.5, 100), { v0: 40, v1: 60 });
  assert.deepEqual(dragOverview({ v0: 20, v1: 40 }, 0.7, 0.701, 100), { v0: 60, v1: 80 });
  assert.deepEqual(dragOverview({ v0: 0, v1: 100 }, 0.5, 0.25, 100), { v0: 25, v1: 50 });
});

test("frames are a whole number of pixels high at any ratio, and points find their level", () => {
  for (const ratio of [1, 1.25, 1.5, 2, 2.625])
    for (const isFlame of [false, true]) {
      const geometry: Geometry = { width: 1000, height: 777, ratio, row: rowFor(ratio), isFlame, scroll: 31 };
      assert.ok(Number.isInteger(geometry.row));
      for (const level of [2, 5, 11]) {
        const y = yOfLevel(geometry, level);
        assert.deepEqual([levelAt(geometry, y), levelAt(geometry, y + geometry.row - 1)], [level, level]);
        assert.notEqual(levelAt(geometry, y - 1), level);
      }
    }
});

test("names are shortened from the front and cannot disturb the line they are in", () => {
  const cases = {
    "github.com/acme/cart.(*Store).Put": "cart.(*Store).Put",
    "std::vec::Vec<T>::push": "vec::Vec<T>::push",
    "com.acme.cart.Store.put": "Store.put",
    "runtime.mallocgc": "runtime.mallocgc",
    main: "main",
    "a::b::c::d": "c::d",
    "/usr/lib/x.so": "x.so",
    "": "",
  };
  for (const [name, short] of Object.entries(cases)) assert.equal(shortName(name), short);
  assert.equal(cleanName("a\0b\u202ec\nd"), "a\u00b7b\u00b7c\u00b7d");
  assert.equal(cleanName("x".repeat(10_000)).length, 400);
});

test("a builder makes the tree that it was told, and leaves out what is empty", () => {
  const source = sample();
  const builder = new TreeBuilder(source);
  const extra = builder.addName("<grouped>", { kind: 2 });
  builder.enter(0);
  builder.enter(1);
  builder.enter(2);
  builder.leave(3);
  builder.enter(3);
  builder.enter(4);
  builder.leave(0);
  builder.leave(0);
  builder.leave(2);
  builder.enter(extra, 1);
  builder.leave(5);
  builder.leave(0);
  const tree = builder.build();
  assert.deepEqual(Array.from({ length: tree.n }, (_, i) => nameOf(tree, i)), ["total", "a", "<grouped>", "b"]);
  assert.deepEqual([...tree.width], [10, 5, 5, 3]);
  assert.deepEqual([...tree.left], [0, 0, 5, 0]);
  assert.deepEqual([...tree.flags!], [0, 0, 1, 0]);
  assert.equal(tree.kinds[tree.name[2]], 2);
  assert.deepEqual(tree.totals, [10]);
  assert.ok(tree.left instanceof Uint32Array);
  assert.throws(() => builder.enter(0), /one root/);
  assert.throws(() => new TreeBuilder(source).build(), /not complete/);
});

test("a tree rebuilt node by node is the same tree", () => {
  for (const more of [{}, { isSigned: true }, { nColumns: 2 as const }, { scale: 2 ** 40 }]) {
    const tree = decodeFlame(encodeFlame({ ...syntheticTree({ n: 2000, nNames: 40, maxDepth: 20, ...more }), factor: 0.5 }));
    const builder = new TreeBuilder(tree);
    const visit = (node: number) => {
      builder.enter(tree.name[node], tree.flags?.[node] ?? 0);
      const [first, end] = childrenOf(tree, node);
      for (let child = first; child < end; child++) visit(child);
      if (tree.before) builder.leave(selfOf(tree, node, "before"), selfOf(tree, node, "after"));
      else builder.leave(selfOf(tree, node));
    };
    visit(0);
    const built = builder.build();
    assert.deepEqual([...built.name], [...tree.name]);
    assert.deepEqual([...built.levelStart], [...tree.levelStart]);
    for (let i = 0; i < tree.n; i++) {
      near(built.left[i], tree.left[i]);
      near(built.width[i], tree.width[i]);
      near(valueOf(built, i), valueOf(tree, i));
      near(valueOf(built, i, "after"), valueOf(tree, i, "after"));
    }
    built.totals.forEach((total, i) => near(total, tree.totals[i]));
  }
});

test("a tree out of nothing can be built", () => {
  const builder = new TreeBuilder(emptyFrame("bytes"));
  builder.enter(builder.addName("total"));
  builder.leave(0);
  const tree = builder.build();
  assert.deepEqual([tree.n, tree.depth, tree.width[0], tree.unit], [1, 1, 0, "bytes"]);
});

test("what is shown becomes SVG with texts that are text", () => {
  const names = ["total", '<script>alert("1")</script>', "\0&\ud800x"];
  const tree = decodeFlame(encodeFlame({ depths: [0, 1, 1], nodeNames: [0, 1, 2], selfs: [[0, 60, 40]], flags: [0, 1, 0], names }));
  const scene = { tree, colours: coloursFor(tree, "package", "light"), hits: null, v0: 0, v1: 100, nPixels: 1000 };
  const options = { isFlame: false, describe: (node: number) => nameOf(tree, node), fit: (name: number) => names[name] };
  const svg = drawSvg(scene, options);
  assert.ok(!svg.includes("<script"));
  assert.match(svg, /<text x="4" y="31" font-style="italic"><title>&#60;script&#62;alert\(&#34;1&#34;\)&#60;\/script&#62;<\/title>/);
  assert.match(svg, /width="1000" height="36"/);
  assert.match(svg, /<rect x="0" y="18" width="599" height="17"/);
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(svg, /[\0\ud800]/);
  assert.match(drawSvg(scene, { ...options, isFlame: true }), /<rect x="0" y="0" width="599"/);
  assert.equal(escapeXml("a<b>&\"'\u0001😀"), "a&#60;b&#62;&#38;&#34;&#39;\ufffd😀");
});
