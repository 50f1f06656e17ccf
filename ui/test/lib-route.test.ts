// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRoute, urlOf } from "../src/lib/route.ts";

test("an address says which view and all of its state", () => {
  const route = parseRoute("/explore", "?query=shop.cpu%7Bzone%3D%22eu%22%7D&from=now-1h");
  assert.equal(route.view, "explore");
  assert.equal(route.params.get("query"), 'shop.cpu{zone="eu"}');
  assert.equal(route.params.get("from"), "now-1h");
  assert.equal(parseRoute("/", "").view, "fleet");
  assert.equal(parseRoute("/nonsense", "").view, "fleet");
});

test("the rest of a path is the id of an ad-hoc profile", () => {
  assert.deepEqual([parseRoute("/adhoc/a%2Fb", "").view, parseRoute("/adhoc/a%2Fb", "").rest], ["adhoc", "a/b"]);
  assert.equal(urlOf("adhoc", {}, "a/b"), "/adhoc/a%2Fb");
});

test("an id that is no text in URLs does not break the page", () => {
  assert.equal(parseRoute("/adhoc/%E0%A4%A", "").rest, "%E0%A4%A");
});

test("what is written is read again, whatever it has in it", () => {
  for (const value of ['a{b="c & d"}', "main;run;a\\;b", "100% <b> “x” \u0000 😀", "a+b c", "x=y?z#w"]) {
    const url = urlOf("compare", { query: value, empty: "", none: null });
    const [path, query] = [url.slice(0, url.indexOf("?")), url.slice(url.indexOf("?"))];
    assert.equal(path, "/compare");
    assert.deepEqual([...parseRoute(path, query).params], [["query", value]]);
  }
});

test("a view without state has a short address", () => {
  assert.equal(urlOf("fleet"), "/");
  assert.equal(urlOf("status", {}), "/status");
});
