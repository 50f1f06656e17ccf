// SPDX-License-Identifier: Apache-2.0
// Other forms of a profile, what belongs to a function, and the table.

import assert from "node:assert/strict";
import test from "node:test";
import { csvOf, functionRows, sortRows } from "../src/flame/aggregate.ts";
import { changeInErrors, samplesBehind, standardError } from "../src/flame/chance.ts";
import { foldedOf as exportFolded } from "../src/flame/folded.ts";
import { libraryOf } from "../src/flame/library.ts";
import { callersOf, calleesOf } from "../src/flame/sandwich.ts";
import { childStartsOf, parentsOf } from "../src/flame/structure.ts";
import { belowPath, collapseRecursion, groupByLibrary, hideFrames, treeBelow } from "../src/flame/transform.ts";
import { childrenOf, findPath, nameOf, parentOf, PARTLY_INLINED, type FlameTree } from "../src/flame/tree.ts";
import { foldedOf, largeTree, treeOf } from "./panel-trees.ts";

const shop = treeOf(`
  main;serve;parse;parse;read 4
  main;serve;parse;read 2
  main;serve;parse 1
  main;serve;render;escape 5
  main;serve;render;read 3
  main;sleep 10
`);

const sorted = (tree: FlameTree) => foldedOf(tree).sort();

/** What drawing and searching rely on: children lie side by side within their parent, the largest first if the source had them
 *  so. */
function checkLayout(tree: FlameTree, isOrdered = true): void {
  const parents = parentsOf(tree);
  assert.equal(tree.levelStart[tree.depth], tree.n);
  for (let i = 1; i < tree.n; i++) {
    const parent = parents[i];
    assert.ok(tree.left[i] >= tree.left[parent] && tree.left[i] + tree.width[i] <= tree.left[parent] + tree.width[parent] + 1e-6);
    assert.ok(tree.width[i] > 0);
    if (parents[i - 1] === parent) {
      assert.equal(tree.left[i - 1] + tree.width[i - 1], tree.left[i]);
      if (isOrdered) assert.ok(tree.width[i - 1] >= tree.width[i]);
    } else assert.equal(tree.left[i], tree.left[parent]);
  }
}

test("parents and children of all nodes are those that are asked for one by one", () => {
  const parents = parentsOf(shop);
  const starts = childStartsOf(shop);
  for (let i = 0; i < shop.n; i++) {
    assert.equal(parents[i], parentOf(shop, i));
    const [first, end] = childrenOf(shop, i);
    assert.equal(starts[i + 1] - starts[i], end - first);
    if (first < end) assert.equal(starts[i], first);
  }
});

test("what hidden frames call is called by their callers, and their own value is their caller's", () => {
  const tree = hideFrames(shop, (name) => name === "parse" || name === "render");
  assert.deepEqual(sorted(tree), ["main;serve 1", "main;serve;escape 5", "main;serve;read 9", "main;sleep 10"]);
  assert.deepEqual(tree.totals, shop.totals);
  checkLayout(tree);
});

test("hiding a frame at the end of stacks leaves its value with its caller", () => {
  const tree = hideFrames(shop, (name) => name === "read");
  assert.deepEqual(sorted(tree), ["main;serve;parse 3", "main;serve;parse;parse 4", "main;serve;render 3", "main;serve;render;escape 5", "main;sleep 10"]);
});

test("hiding everything leaves the root with all of it", () => {
  const tree = hideFrames(shop, () => true);
  assert.equal(tree.n, 1);
  assert.equal(tree.width[0], 25);
});

test("hiding what is not there gives the same tree", () => {
  assert.equal(hideFrames(shop, () => false), shop);
});

test("a function that calls itself is shown once", () => {
  const tree = collapseRecursion(shop);
  assert.deepEqual(sorted(tree), ["main;serve;parse 1", "main;serve;parse;read 6", "main;serve;render;escape 5", "main;serve;render;read 3", "main;sleep 10"]);
  assert.deepEqual(tree.totals, shop.totals);
  checkLayout(tree);
});

test("recursion of any depth collapses into one frame", () => {
  const tree = collapseRecursion(treeOf(`main;${"fib;".repeat(900)}leaf 7\nmain;fib 2`));
  assert.deepEqual(sorted(tree), ["main;fib 2", "main;fib;leaf 7"]);
});

test("frames of one library are one frame, as long as they call each other", () => {
  const modules = { main: "/bin/shop", serve: "/bin/shop", parse: "/lib/libjson.so", read: "/lib/libc.so.6", render: "/bin/shop", escape: "/bin/shop", sleep: "/lib/libc.so.6" };
  const tree = treeOf(exportFolded(shop), { modules });
  const grouped = groupByLibrary(tree);
  assert.deepEqual(sorted(grouped), ["shop 5", "shop;libc.so.6 13", "shop;libjson.so 1", "shop;libjson.so;libc.so.6 6"]);
  assert.deepEqual(grouped.totals, tree.totals);
  checkLayout(grouped);
});

test("libraries are modules of compiled code, packages of other code, and the kernel", () => {
  const tree = treeOf("github.com/a/b.(*T).F;java.util.HashMap.put;schedule;lost;example.org/c.G 1", {
    modules: { "java.util.HashMap.put": "/usr/lib/jvm/libjvm.so", "example.org/c.G": "/bin/c" },
    kinds: { "github.com/a/b.(*T).F": 3, "java.util.HashMap.put": 6, schedule: 2 },
  });
  const library = (name: string) => libraryOf(tree, tree.names.indexOf(name));
  assert.deepEqual(["github.com/a/b.(*T).F", "java.util.HashMap.put", "schedule", "lost"].map(library), ["github.com/a/b", "java.util", "[kernel]", "[unknown]"]);
  assert.equal(library("example.org/c.G"), "example.org/c");
});

test("diffs keep both sides through every form", () => {
  const tree = treeOf("main;parse;parse;read 4 8\nmain;parse 1 0\nmain;render;read 0 6", { isDiff: true, factor: 0.5, samples: [100, 200] });
  for (const form of [hideFrames(tree, (name) => name === "parse"), collapseRecursion(tree), groupByLibrary(tree)]) {
    assert.deepEqual(form.totals, tree.totals);
    assert.deepEqual(form.samples, [100, 200]);
    assert.equal(form.before![0], 5);
    assert.equal(form.after![0], 14);
    checkLayout(form);
  }
  assert.deepEqual(sorted(hideFrames(tree, (name) => name === "parse")), ["main 1 0", "main;read 4 8", "main;render;read 0 6"]);
  const callees = calleesOf(tree, "parse")!;
  assert.deepEqual(callees.totals, [5, 16]);
  assert.deepEqual(callersOf(tree, "read")!.totals, [4, 28]);
});

test("negative values stay what they are", () => {
  const tree = treeOf("main;a;b 5\nmain;a;c -3\nmain;d 2");
  const hidden = hideFrames(tree, (name) => name === "a");
  assert.deepEqual(sorted(hidden), ["main;b 5", "main;c -3", "main;d 2"]);
  assert.deepEqual(hidden.totals, [4]);
});

test("merged frames are inlined partly if some are not inlined", () => {
  const flagged = { ...treeOf("main;x;f 1\nmain;f 2"), flags: new Uint8Array(5) };
  flagged.flags[findPath(flagged, ["", "main", "x", "f"])] = 1;
  const tree = hideFrames(flagged, (name) => name === "x");
  assert.equal(tree.flags![findPath(tree, ["", "main", "f"])], PARTLY_INLINED);
});

test("a part of a tree is that part, with its samples in proportion", () => {
  const tree = { ...shop, samples: [250] };
  const part = treeBelow(tree, [findPath(tree, ["", "main", "serve", "parse"])]);
  assert.equal(nameOf(part, 0), "parse");
  assert.deepEqual(sorted(part), ["- 1", "parse;read 4", "read 2"]);
  assert.deepEqual(part.samples, [70]);
  checkLayout(part);
});

test("callers and callees of a function come to its total in the table", () => {
  for (const row of functionRows(shop)) {
    assert.equal(calleesOf(shop, row.text)!.totals[0], row.total, row.text);
    assert.equal(callersOf(shop, row.text)!.totals[0], row.total, row.text);
  }
  assert.deepEqual(sorted(callersOf(shop, "read")!), ["parse;parse;serve;main 4", "parse;serve;main 2", "render;serve;main 3"]);
  assert.deepEqual(sorted(calleesOf(shop, "parse")!), ["- 1", "parse;read 4", "read 2"]);
  assert.equal(callersOf(shop, "nobody"), null);
});

test("the table counts a function within itself once", () => {
  const rows = sortRows(shop, functionRows(shop), "total", true);
  const short = rows.map((row) => [row.text, row.self, row.total]);
  assert.deepEqual(short, [["main", 0, 25], ["serve", 0, 15], ["sleep", 10, 10], ["read", 9, 9], ["render", 0, 8], ["parse", 1, 7], ["escape", 5, 5]]);
});

test("what was cut has a row of its own, and is no function", () => {
  const tree = treeOf("main;other 3\nmain;a;other 2\nmain;a 1");
  const rows = functionRows(tree);
  const cut = rows.find((row) => row.isOther)!;
  assert.deepEqual([cut.text, cut.self, cut.total], ["other (cut)", 5, 5]);
  assert.equal(rows.length, 3);
});

test("changes are sorted by their size, relative ones by their sign", () => {
  const tree = treeOf("a 10 2\nb 1 5\nc 3 3", { isDiff: true });
  const names = (key: "change" | "relative" | "self") => sortRows(tree, functionRows(tree), key, true).map((row) => row.text).join("");
  assert.equal(names("change"), "abc");
  assert.equal(names("relative"), "bca");
  assert.equal(names("self"), "abc");
});

test("CSV quotes what needs it and disarms formulas", () => {
  const tree = treeOf('a,"b" 1\n=SUM(A1) 2');
  const text = csvOf(tree, sortRows(tree, functionRows(tree), "self", true));
  assert.equal(text, 'function,self (nanoseconds),total (nanoseconds),module,file,line\r\n"\'=SUM(A1)",2,2,,,\r\n"a,""b""",1,1,,,\r\n');
});

test("folded stacks of a part begin with the way to it", () => {
  const part = treeBelow(shop, [findPath(shop, ["", "main", "serve", "render"])]);
  assert.equal(exportFolded(part, ["main", "serve", "render"]), "main;serve;render;escape 5\nmain;serve;render;read 3\n");
});

test("errors follow from raw samples", () => {
  const tree = treeOf("main;a 25\nmain;b 75", { samples: [400] });
  assert.equal(samplesBehind(tree, 25), 100);
  assert.equal(standardError(tree, 25), 2.5);
  assert.equal(standardError(treeOf("a 1"), 1), null);
});

test("a change is judged as docs/sampling-error.md says", () => {
  const tree = treeOf("a 100 160\nb 900 840", { isDiff: true, samples: [1000, 1000] });
  assert.ok(Math.abs(changeInErrors(tree, 100, 160)! - 60 / Math.sqrt(260)) < 1e-9);
  assert.ok(changeInErrors(tree, 0, 160)! > 3);
  assert.equal(changeInErrors(treeOf("a 1 2", { isDiff: true }), 1, 2), null);
});

test("one sample in a twentieth is no change, four are", () => {
  const tree = treeOf("a 0 19\nb 1900 1881", { isDiff: true, samples: [1900, 100] });
  const errors = changeInErrors(tree, 0, 19)!;
  assert.ok(errors > 1 && errors < 2, String(errors));
  assert.ok(changeInErrors(tree, 0, 4 * 19)! > 3);
  assert.ok(changeInErrors(tree, 19, 19) === 0);
});

test("forms of a large tree keep its total and its layout", () => {
  const tree = largeTree(20000, 300);
  const forms = [hideFrames(tree, (name) => /[13579]$/.test(name)), collapseRecursion(tree), groupByLibrary(tree), calleesOf(tree, "pkg1.function_1")!, callersOf(tree, "pkg1.function_1")!];
  for (const form of forms) checkLayout(form, false);
  for (const form of forms.slice(0, 3)) assert.deepEqual(form.totals, tree.totals);
  const rows = functionRows(tree);
  assert.equal(rows.reduce((sum, row) => sum + row.self, 0), tree.totals[0]);
  assert.equal(rows.find((row) => row.text === "pkg1.function_1")!.total, forms[3].totals[0]);
});

test("a part that came from the server has the same paths as in the whole", () => {
  const part = treeBelow(shop, [findPath(shop, ["", "main", "serve", "parse"])]);
  const whole = belowPath(part, ["main", "serve", "parse"], shop);
  assert.deepEqual(sorted(whole), ["main;serve;parse 1", "main;serve;parse;parse;read 4", "main;serve;parse;read 2"]);
  assert.equal(nameOf(whole, 0), "root");
  checkLayout(whole);
  const rows = sortRows(whole, functionRows(whole), "name", false).map((row) => [row.text, row.self, row.total]);
  assert.deepEqual(rows, [["main", 0, 7], ["parse", 1, 7], ["read", 6, 6], ["serve", 0, 7]]);
  assert.equal(belowPath(shop, ["main"], shop), shop);
});
