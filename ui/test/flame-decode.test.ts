// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FormatError, decodeFlame } from "../src/flame/decode.ts";
import { type FlameTree, INLINED, KINDS, type Side, childrenOf, nameOf, parentOf, pathOf, selfOf, valueOf } from "../src/flame/tree.ts";
import { type PreOrder, encodeFlame, randomFrom, syntheticTree } from "./flame-encode.ts";

/** Walks the decoded tree in pre-order and compares each node with the plain one. */
function checkAgainst(plain: PreOrder, tree: FlameTree): void {
  const n = plain.depths.length;
  const factor = plain.factor ?? 1;
  const divisor = plain.divisor ?? 1;
  assert.equal(tree.n, n);
  const totals = plain.selfs.map((column, c) => {
    const sums = column.map((value) => value * (c === 1 ? factor : 1));
    for (let i = n - 1; i > 0; i--) {
      let parent = i - 1;
      while (plain.depths[parent] >= plain.depths[i]) parent--;
      sums[parent] += sums[i];
    }
    return sums;
  });
  let i = 0;
  const near = (a: number, b: number) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
  const visit = (node: number, parent: number, depth: number) => {
    const at = i++;
    assert.equal(depth, plain.depths[at]);
    assert.equal(nameOf(tree, node), plain.names[plain.nodeNames[at]]);
    assert.equal(parentOf(tree, node), parent);
    assert.equal(tree.flags?.[node] ?? 0, plain.flags?.[at] ?? 0);
    if (totals.length === 1) {
      near(valueOf(tree, node), totals[0][at] * divisor);
      near(selfOf(tree, node), plain.selfs[0][at] * divisor);
    } else {
      near(valueOf(tree, node, "before"), totals[0][at] * divisor);
      near(valueOf(tree, node, "after"), totals[1][at] * divisor);
      near(selfOf(tree, node, "after"), plain.selfs[1][at] * factor * divisor);
    }
    const [first, end] = childrenOf(tree, node);
    for (let child = first; child < end; child++) visit(child, node, depth + 1);
  };
  visit(0, -1, 0);
  assert.equal(i, n);
}

const small: PreOrder = {
  depths: [0, 1, 2, 2, 1],
  nodeNames: [0, 1, 2, 3, 2],
  selfs: [[0, 5, 3, 4, 8]],
  flags: [0, 0, 1, 0, 4],
  names: ["total", "main", "a", "b"],
  details: [
    { kind: 0, module: 0, file: 0, line: 0 },
    { kind: 1, module: 1, file: 2, line: 42 },
    { kind: 2, module: 0, file: 0, line: 0 },
    { kind: 3, module: 1, file: 0, line: 0 },
  ],
  texts: ["/bin/checkout", "main.c"],
  unit: "nanoseconds",
  divisor: 10_000_000,
  samples: [20],
};

test("a small tree is decoded with everything that is said about it", () => {
  for (const hasRanks of [false, true]) {
    const tree = decodeFlame(encodeFlame(small, hasRanks));
    checkAgainst(small, tree);
    assert.deepEqual([...tree.left], [0, 0, 12, 0, 3]);
    assert.deepEqual([...tree.width], [20, 12, 8, 3, 4]);
    assert.deepEqual([...tree.levelStart], [0, 1, 3, 5]);
    assert.deepEqual(tree.texts, ["", "/bin/checkout", "main.c"]);
    assert.deepEqual([...tree.kinds], [0, 1, 2, 3]);
    assert.deepEqual([tree.texts[tree.modules[1]], tree.texts[tree.files[1]], tree.lines[1]], ["/bin/checkout", "main.c", 42]);
    assert.deepEqual(tree.totals, [200_000_000]);
    assert.deepEqual(tree.samples, [20]);
    assert.equal(tree.unit, "nanoseconds");
    assert.ok(tree.left instanceof Uint32Array && tree.name instanceof Uint16Array);
  }
});

test("random trees are decoded as they were encoded", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const options = { n: 1 + seed * 37, nNames: 40, maxDepth: 1 + seed * 2, seed };
    checkAgainst(syntheticTree(options), decodeFlame(encodeFlame(syntheticTree(options), seed % 2 === 0)));
    const diff = { ...syntheticTree({ ...options, nColumns: 2 }), factor: 0.75 };
    checkAgainst(diff, decodeFlame(encodeFlame(diff)));
    const signed = syntheticTree({ ...options, isSigned: true });
    checkAgainst(signed, decodeFlame(encodeFlame(signed)));
  }
});

test("a node of a tree with signs is as wide as all that is in it, whatever its sign", () => {
  const tree = decodeFlame(encodeFlame({ depths: [0, 1, 1], nodeNames: [0, 1, 2], selfs: [[0, 5, -5]], names: ["total", "a", "b"] }));
  assert.deepEqual([...tree.width], [10, 5, 5]);
  assert.deepEqual([...tree.values!], [0, 5, -5]);
  assert.deepEqual(tree.totals, [0]);
});

test("one node without a value is a tree", () => {
  const tree = decodeFlame(encodeFlame({ depths: [0], nodeNames: [0], selfs: [[0]], names: ["total"] }));
  assert.equal(tree.n, 1);
  assert.equal(tree.depth, 1);
  assert.deepEqual([...tree.width], [0]);
});

test("values of 2^62 lose digits and nothing else", () => {
  const plain = { depths: [0, 1, 1, 2], nodeNames: [0, 1, 2, 1], selfs: [[0, 2 ** 62, 2 ** 40, 2 ** 61]], names: ["total", "a", "b"] };
  const tree = decodeFlame(encodeFlame(plain));
  assert.ok(tree.left instanceof Float64Array);
  checkAgainst(plain, tree);
});

test("a stack of 1,024 frames is decoded", () => {
  const depths = Array.from({ length: 1025 }, (_, i) => i);
  const tree = decodeFlame(encodeFlame({ depths, nodeNames: depths.map((d) => d % 3), selfs: [depths.map((d) => (d === 1024 ? 7 : 0))], names: ["a", "b", "c"] }));
  assert.equal(tree.depth, 1025);
  assert.equal(pathOf(tree, tree.n - 1).length, 1025);
});

test("65,536 names take numbers of 32 bits", () => {
  const names = Array.from({ length: 70000 }, (_, i) => `f${i}`);
  const depths = names.map((_, i) => (i === 0 ? 0 : 1));
  const tree = decodeFlame(encodeFlame({ depths, nodeNames: names.map((_, i) => i), selfs: [names.map((_, i) => (i === 0 ? 0 : 1))], names }));
  assert.equal(nameOf(tree, 69999), "f69999");
});

test("names may be anything", () => {
  const names = ["<img src=x onerror=alert(1)>", "\0\u202eabc", "x".repeat(10_000), "😀 שלום"];
  const tree = decodeFlame(encodeFlame({ depths: [0, 1, 2, 3], nodeNames: [0, 1, 2, 3], selfs: [[0, 0, 0, 1]], names }));
  assert.deepEqual(tree.names, names);
});

test("each way to cut the bytes short is refused with a sentence", () => {
  for (const tree of [small, { ...syntheticTree({ n: 40, nNames: 9, nColumns: 2 }), factor: 2 }]) {
    const bytes = encodeFlame(tree);
    for (let length = 0; length < bytes.length; length++)
      assert.throws(() => decodeFlame(bytes.subarray(0, length)), FormatError, `cut at ${length}`);
    assert.throws(() => decodeFlame(Uint8Array.of(...bytes, 0)), /bytes are left over/);
  }
});

test("damaged bytes give an error or a tree that holds together", () => {
  const random = randomFrom(7);
  const source = [small, syntheticTree({ n: 60, nNames: 12 }), syntheticTree({ n: 60, nNames: 12, nColumns: 2, isSigned: true })];
  let nTrees = 0;
  for (let round = 0; round < 6000; round++) {
    const bytes = encodeFlame(source[round % 3], round % 2 === 0);
    for (let flips = 1 + Math.floor(random() * 3); flips > 0; flips--)
      bytes[8 + Math.floor(random() * (bytes.length - 8))] = Math.floor(random() * 256);
    let tree;
    try {
      tree = decodeFlame(bytes);
    } catch (error) {
      assert.ok(error instanceof FormatError, String(error));
      continue;
    }
    nTrees++;
    for (let node = 1; node < tree.n; node++) {
      const [first, end] = childrenOf(tree, parentOf(tree, node));
      assert.ok((first <= node && node < end) || tree.width[node] === 0 || tree.width[0] > 2 ** 53);
      assert.ok(tree.name[node] < tree.names.length);
    }
  }
  assert.ok(nTrees > 100, `${nTrees} trees`);
});

test("a header that promises too much allocates nothing", () => {
  const bytes = encodeFlame(small);
  const head = [...bytes.subarray(0, 8)];
  const huge = [0xff, 0xff, 0xff, 0xff, 0x7f];
  assert.throws(() => decodeFlame(Uint8Array.of(...head, ...huge, ...bytes.subarray(9))), FormatError);
});

test("errors say what is wrong", () => {
  const bytes = encodeFlame(small);
  const changed = (at: number, value: number) => {
    const copy = bytes.slice();
    copy[at] = value;
    return copy;
  };
  assert.throws(() => decodeFlame(changed(0, 0)), /do not begin with HFLM/);
  assert.throws(() => decodeFlame(changed(4, 2)), /has version 2 of the format; this page reads 1/);
  assert.throws(() => decodeFlame(changed(5, 8)), /flags 8, columns 1/);
  assert.throws(() => decodeFlame(changed(8, 9)), /8 nodes below the root, but there is room for 4/);
  const wrongTotal = { ...small, selfs: [[0, 5, 3, 4, 8]] };
  const copy = encodeFlame(wrongTotal);
  copy[copy.indexOf(20, 8)] = 21;
  assert.throws(() => decodeFlame(copy), /add up to 20, but it says 21/);
});

const root = process.env.HEARTH_UI!;
const bytesOf = (name: string) => new Uint8Array(readFileSync(join(root, "../tests/golden", name)));

/** Stacks of a folded file as the names from the root, joined, and their values. */
function foldedOf(name: string): Map<string, number> {
  const stacks = new Map<string, number>();
  for (const line of readFileSync(join(root, "../examples", name), "utf8").split("\n")) {
    const match = /^([^#].*) (\d+)$/.exec(line);
    const stack = match?.[1].replace(/_\[[ijk]\]/g, "");
    if (match && stack) stacks.set(stack, (stacks.get(stack) ?? 0) + Number(match[2]));
  }
  return stacks;
}

function stacksOf(tree: FlameTree, side: Side): Map<string, number> {
  const stacks = new Map<string, number>();
  for (let node = 1; node < tree.n; node++) {
    const self = Math.round(selfOf(tree, node, side) / (side === "after" ? tree.factor : 1));
    const path = pathOf(tree, node).slice(1).map((at) => nameOf(tree, at)).join(";");
    if (self !== 0) stacks.set(path, (stacks.get(path) ?? 0) + self);
  }
  return stacks;
}

test("what the server wrote has the stacks of the profile it was made from", () => {
  const sorted = (stacks: Map<string, number>) => [...stacks].sort();
  const tree = decodeFlame(bytesOf("page-checkout.flame"));
  assert.deepEqual(sorted(stacksOf(tree, "both")), sorted(foldedOf("checkout.folded")));
  assert.equal(KINDS[tree.kinds[tree.names.indexOf("do_syscall_64")]], "kernel");
  assert.ok(tree.flags?.some((flags) => (flags & INLINED) !== 0));
  const diff = decodeFlame(bytesOf("page-checkout-diff.flame"));
  assert.deepEqual(sorted(stacksOf(diff, "before")), sorted(foldedOf("checkout.folded")));
  assert.deepEqual(sorted(stacksOf(diff, "after")), sorted(foldedOf("checkout-next.folded")));
});
