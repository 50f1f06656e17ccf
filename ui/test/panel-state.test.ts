// SPDX-License-Identifier: Apache-2.0
// Paths, patterns and links of the panel, and which rows of the call tree are open.

import assert from "node:assert/strict";
import test from "node:test";
import { literalOf, alternativesOf, exactly, exactSearch, hidingOf, withAlternative } from "../src/components/panel/patterns.ts";
import { problemOf, sourceLink } from "../src/components/panel/links.ts";
import { carryOver, hotPath, visibleRows } from "../src/components/panel/opened.ts";
import { foldersEnd } from "../src/components/panel/FunctionName.tsx";
import { joinPath, pathTests, shortPath, splitPath } from "../src/lib/path.ts";
import { findPath, nameOf } from "../src/flame/tree.ts";
import { treeOf } from "./panel-trees.ts";

test("paths come back as they went, whatever is in the names", () => {
  for (const names of [[], ["main"], ["a;b", "c\\", "\\;"], ["~tilde"], [""], ["", "x", ""], ["<b>", "\u202Eright", "🔥", "\0"]]) {
    assert.deepEqual(splitPath(joinPath(names)), names);
  }
});

test("long paths are written short and still find their way", () => {
  const names = Array.from({ length: 1024 }, (_, i) => `a_function_with_a_long_name_${i}`);
  const text = shortPath(names);
  assert.ok(text.length < 7000 && text.startsWith("~"));
  const tests = pathTests(text);
  assert.equal(tests.length, 1024);
  assert.ok(tests.every((isWanted, i) => isWanted(names[i])));
  assert.ok(!tests[0](names[1]));
  assert.equal(shortPath(["main", "serve"]), "main;serve");
});

test("single functions to hide are compared, not matched, whatever their length", () => {
  const long = `operator${"<int>".repeat(2000)}`;
  const hide = withAlternative(withAlternative("", exactly("f(a|b)*")), exactly(long));
  const hiding = hidingOf(hide)!;
  assert.equal(hiding.problem, null);
  assert.ok(hiding.isHidden("f(a|b)*") && hiding.isHidden(long));
  assert.ok(!hiding.isHidden("f(a") && !hiding.isHidden("f"));
  assert.equal(withAlternative(hide, exactly(long)), hide);
});

test("patterns to hide are split where alternatives are, and nowhere else", () => {
  assert.deepEqual(alternativesOf("a|(b|c)|[|]|d\\|e"), ["a", "(b|c)", "[|]", "d\\|e"]);
  assert.equal(literalOf("^a\\.b$"), "a.b");
  assert.equal(literalOf("^a.b$"), null);
  assert.ok(hidingOf("^runtime\\.|std::")!.isHidden("runtime.main"));
  assert.equal(hidingOf(""), null);
  assert.notEqual(hidingOf("(a+)+b")!.problem, null);
});

test("a function is lit by its own name alone, as far as searches look", () => {
  assert.ok(exactSearch("a.b").test("a.b"));
  assert.ok(!exactSearch("a.b").test("axb"));
  const long = "x".repeat(300);
  assert.ok(exactSearch(long).test(long.slice(0, 256)));
});

test("links to source are filled in, and never scripts", () => {
  const place = { file: "/src/a b.c", line: 7, module: "shop", function: "f<T>" };
  assert.equal(sourceLink("https://x/{module}/{file}#L{line}", place), "https://x/shop/src/a%20b.c#L7");
  assert.equal(sourceLink("vscode://file/{file}:{line}?{function}", place), "vscode://file/src/a%20b.c:7?f%3CT%3E");
  assert.equal(sourceLink("", place), null);
  assert.equal(sourceLink("javascript:alert('{file}')", place), null);
  assert.match(problemOf("javascript:{file}")!, /begins with https/);
  assert.match(problemOf("https://x/")!, /needs \{file\}/);
});

const tree = treeOf("main;serve;parse 40\nmain;serve;render 30\nmain;serve;log 30\nmain;sleep 10\nidle 5");
const shown = (of: typeof tree, opened: ReadonlySet<number>) => visibleRows(of, opened).map((row) => `${"-".repeat(row.level)}${nameOf(of, row.node)}`);

test("the call tree opens along the hot path", () => {
  assert.deepEqual(shown(tree, hotPath(tree)), ["main", "-serve", "--parse", "--log", "--render", "-sleep", "idle"]);
  assert.deepEqual(shown(tree, new Set()), ["main", "idle"]);
});

test("what is open stays open in the next tree", () => {
  const next = treeOf("idle 500\nmain;sleep 400\nmain;serve;render 30");
  const carried = carryOver(hotPath(tree), tree, next);
  assert.ok(carried.has(findPath(next, ["", "main", "serve"])));
  assert.deepEqual(shown(next, carried), ["idle", "main", "-sleep", "-serve", "--render"]);
});

test("the folders of a package end before the package itself", () => {
  const rest = (name: string) => name.slice(foldersEnd(name));
  assert.equal(rest("example.org/shop/cart.(*Cart).Add"), "cart.(*Cart).Add");
  assert.equal(rest("operator/(a/b)"), "(a/b)");
  assert.equal(rest("std::map<a/b>"), "std::map<a/b>");
});
