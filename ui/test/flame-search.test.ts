// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeFlame } from "../src/flame/decode.ts";
import { Search, hasBit, parsePattern } from "../src/flame/search.ts";
import { type FlameTree, levelOf, nameOf } from "../src/flame/tree.ts";
import { encodeFlame, randomFrom, syntheticTree } from "./flame-encode.ts";

/** The length of the union of all matching intervals within [v0, v1): sorted and merged, the plain way. */
function unionOf(tree: FlameTree, pattern: RegExp, v0: number, v1: number): number {
  const parts = [];
  for (let node = 0; node < tree.n; node++)
    if (pattern.test(nameOf(tree, node))) parts.push([Math.max(v0, tree.left[node]), Math.min(v1, tree.left[node] + tree.width[node])]);
  parts.sort((a, b) => a[0] - b[0]);
  let [sum, reached] = [0, -Infinity];
  for (const [begin, end] of parts) {
    sum += Math.max(0, end - Math.max(begin, reached));
    reached = Math.max(reached, end);
  }
  return sum;
}

test("the matched share counts nothing twice, in all of the graph and in parts of it", () => {
  const random = randomFrom(3);
  for (let seed = 1; seed <= 6; seed++) {
    const tree = decodeFlame(encodeFlame(syntheticTree({ n: 5000, nNames: 60, maxDepth: 10 * seed, seed, isSigned: seed === 5, scale: seed === 6 ? 2 ** 41 : 1 })));
    for (const pattern of [/function_1/, /a$/, /runtime/, /total/, /nothing/, /./]) {
      const search = new Search(tree, pattern);
      assert.equal(search.share().value, unionOf(tree, pattern, 0, tree.width[0]) * tree.divisor);
      for (let i = 0; i < 10; i++) {
        const [a, b] = [random() * tree.width[0], random() * tree.width[0]].sort((x, y) => x - y);
        const expected = unionOf(tree, pattern, a, b);
        const { value, share } = search.share(a, b);
        assert.ok(Math.abs(value - expected) <= 1e-6 * tree.width[0], `${value} is not ${expected}`);
        assert.ok(Math.abs(share - expected / (b - a)) < 1e-6);
      }
    }
  }
});

test("next and previous visit every frame found once, from left to right", () => {
  const tree = decodeFlame(encodeFlame(syntheticTree({ n: 3000, nNames: 50, maxDepth: 20 })));
  const search = new Search(tree, /function_[3-7]/);
  const expected = Array.from({ length: tree.n }, (_, i) => i)
    .filter((node) => /function_[3-7]/.test(nameOf(tree, node)))
    .sort((a, b) => tree.left[a] - tree.left[b] || levelOf(tree, a) - levelOf(tree, b));
  assert.equal(search.nHits, expected.length);
  const seen = [];
  for (let node = search.next(-1, 1), i = 0; i < expected.length; i++, node = search.next(node, 1)) seen.push(node);
  assert.deepEqual(seen, expected);
  assert.equal(search.next(expected.at(-1)!, 1), expected[0]);
  const back = [];
  for (let node = search.next(-1, -1), i = 0; i < expected.length; i++, node = search.next(node, -1)) back.push(node);
  assert.deepEqual(back, expected.reverse());
});

test("a search without hits has no next frame and no share", () => {
  const tree = decodeFlame(encodeFlame(syntheticTree({ n: 100, nNames: 10 })));
  const search = new Search(tree, /no such function/);
  assert.deepEqual(search.share(), { value: 0, share: 0 });
  assert.equal(search.next(5, 1), -1);
});

test("an empty tree has a share of 0", () => {
  const tree = decodeFlame(encodeFlame({ depths: [0], nodeNames: [0], selfs: [[0]], names: ["total"] }));
  assert.deepEqual(new Search(tree, /total/).share(), { value: 0, share: 0 });
});

test("a pattern with a memory does not skip names", () => {
  const tree = decodeFlame(encodeFlame({ depths: [0, 1, 1], nodeNames: [0, 1, 2], selfs: [[0, 1, 1]], names: ["aa", "aa", "aa"] }));
  assert.equal(new Search(tree, /aa/g).nHits, 3);
});

test("ranges of bits are tested by words", () => {
  const bits = new Uint32Array(4);
  bits[2] = 1 << 5;
  for (let from = 0; from <= 128; from++) for (let to = from; to <= 128; to++) assert.equal(hasBit(bits, from, to), from <= 69 && 69 < to);
});

test("upper case matters if there is any", () => {
  const of = (text: string) => {
    const parsed = parsePattern(text);
    assert.ok("pattern" in parsed);
    return parsed.pattern;
  };
  assert.ok(of("serve").test("HandlerFunc.ServeHTTP"));
  assert.ok(!of("Serve").test("serve"));
});

test("what is no expression is looked for as it stands", () => {
  for (const text of ["(*Server).Serve", "operator*(", "vector[", "a++"]) {
    const parsed = parsePattern(text);
    assert.ok("pattern" in parsed);
    assert.ok(parsed.pattern.test(`x${text}y`), text);
  }
});

test("patterns that could take for ever are refused, others are not", () => {
  for (const text of ["(a+)+$", "(a|aa)*b", "(x*)*", "((ab)*c)+", "a*a*a*a*b", "(a{1,9}){2,}", "a?".repeat(11), "x".repeat(201)])
    assert.ok("problem" in parsePattern(text), text);
  for (const text of ["json::parse", "a.*b", "(read|write)_", "^std::.*push$", "(foo)?bar", "[a-z+*]+", "\\(\\*T\\)", "a*?b", "(?:ab)+"])
    assert.ok("pattern" in parsePattern(text), text);
});
