// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  above, criticalPath, isClosed, nBelow, nextOf, parseClosing, printClosing, rowOf, shownRows, SpanSearch, treeOf, withClosed,
} from "../src/views/traces/spans.ts";
import { hex, makeSpan, makeTrace, syntheticTrace } from "./traces-made.ts";

/*  1 ─┬─ 2 ─── 3
 *     └─ 4
 *  5               */
const small = treeOf(makeTrace([
  makeSpan({ id: 1, parent: null, depth: 0, offset: 0, duration: 100 }),
  makeSpan({ id: 2, parent: 1, depth: 1, offset: 10, duration: 40 }),
  makeSpan({ id: 3, parent: 2, depth: 2, offset: 20, duration: 10 }),
  makeSpan({ id: 4, parent: 1, depth: 1, offset: 60, duration: 30, isError: true }),
  makeSpan({ id: 5, parent: 99, depth: 0, offset: 5, duration: 5 }),
]));

test("spans know who is above and below them", () => {
  assert.deepEqual([...small.parent], [-1, 0, 1, 0, -1]);
  assert.deepEqual([...small.end], [4, 3, 3, 4, 5]);
  assert.equal(nBelow(small, 0), 3);
  assert.deepEqual(above(small, 2), [1, 0]);
  assert.equal(small.byId.get(hex(4, 16)), 3);
});

test("a trace without spans is a tree without rows", () => {
  const tree = treeOf(makeTrace([]));
  assert.equal(tree.lengthNs, 1);
  assert.equal(shownRows(tree, () => true).length, 0);
  assert.deepEqual(criticalPath(tree), []);
});

test("what is below a closed span is not shown", () => {
  assert.deepEqual([...shownRows(small, () => false)], [0, 1, 2, 3, 4]);
  assert.deepEqual([...shownRows(small, (span) => span === 1)], [0, 1, 3, 4]);
  assert.deepEqual([...shownRows(small, (span) => span === 0 || span === 1)], [0, 4]);
  const rows = shownRows(small, (span) => span === 1);
  assert.equal(rowOf(rows, 3), 2);
  assert.equal(rowOf(rows, 2), 1, "a span that is not shown stands where the closed one above it is");
  assert.equal(rowOf(new Uint32Array(), 3), -1);
});

test("what is closed stands in the URL, all of it with one word", () => {
  const none = parseClosing("");
  assert.equal(isClosed(small, none, 0), false);
  const one = withClosed(small, none, [1], true);
  assert.equal(printClosing(one), hex(2, 16));
  assert.equal(isClosed(small, parseClosing(printClosing(one)), 1), true);
  const all = parseClosing("all");
  assert.deepEqual([0, 1, 2, 3, 4].filter((span) => isClosed(small, all, span)), [0, 1], "those without others below have nothing to close");
  const opened = withClosed(small, all, [0], false);
  assert.equal(printClosing(opened), `all,${hex(1, 16)}`);
  assert.deepEqual([...shownRows(small, (span) => isClosed(small, parseClosing(printClosing(opened)), span))], [0, 1, 3, 4]);
  assert.equal(printClosing(withClosed(small, opened, [0], true)), "all");
});

test("a search looks into names, attributes and messages", () => {
  const search = new SpanSearch(small);
  assert.deepEqual(search.find("OPERATION 3"), [2]);
  assert.deepEqual(search.find("number=4"), [3]);
  assert.deepEqual(search.find("it failed"), [3]);
  assert.deepEqual(search.find("  "), []);
  assert.deepEqual(search.find("nowhere"), []);
});

test("the next of what was found goes around the end", () => {
  assert.equal(nextOf([1, 3], -1, 1), 1);
  assert.equal(nextOf([1, 3], 1, 1), 3);
  assert.equal(nextOf([1, 3], 3, 1), 1);
  assert.equal(nextOf([1, 3], 1, -1), 3);
  assert.equal(nextOf([], 1, 1), -1);
});

test("the critical path adds up to the duration of the trace", () => {
  const path = criticalPath(small);
  assert.deepEqual(path.map(({ span, fromNs, untilNs }) => [span, fromNs, untilNs]), [
    [0, 90, 100], [3, 60, 90], [0, 50, 60], [1, 30, 50], [2, 20, 30], [1, 10, 20], [0, 0, 10],
  ]);
  for (const seed of [1, 2, 3]) {
    const tree = treeOf(syntheticTrace(500, seed));
    const sum = criticalPath(tree).reduce((total, one) => total + one.untilNs - one.fromNs, 0);
    assert.ok(Math.abs(sum - tree.spans[0].duration_ns) < 1, `${sum} of ${tree.spans[0].duration_ns}`);
  }
});

test("the critical path goes through the slowest of what runs at the same time", () => {
  const tree = treeOf(makeTrace([
    makeSpan({ id: 1, parent: null, depth: 0, offset: 0, duration: 100 }),
    makeSpan({ id: 2, parent: 1, depth: 1, offset: 0, duration: 90 }),
    makeSpan({ id: 3, parent: 1, depth: 1, offset: 5, duration: 60 }),
    makeSpan({ id: 4, parent: 1, depth: 1, offset: 95, duration: 500 }), /* goes on when the parent is over */
  ]));
  assert.deepEqual(criticalPath(tree).map((one) => [one.span, one.fromNs, one.untilNs]), [[3, 95, 100], [0, 90, 95], [1, 0, 90]]);
});

test("a trace of 20,000 levels is no problem for the stack", () => {
  const spans = Array.from({ length: 20000 }, (_, n) => makeSpan({ id: n + 1, parent: n || null, depth: n, offset: n, duration: 40000 - 2 * n }));
  const tree = treeOf(makeTrace(spans));
  assert.equal(nBelow(tree, 0), 19999);
  assert.equal(above(tree, 19999).length, 19999);
  assert.equal(criticalPath(tree).reduce((sum, one) => sum + one.untilNs - one.fromNs, 0), 40000);
});
