// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { slowFastCommand, slowFastQuery } from "../src/api/slowfast.ts";
import { isSlowFast, parseShare, slowFastParams, slowFastStateOf, titlesOf } from "../src/views/compare/slowFast.ts";

const params = (text: string) => new Map(new URLSearchParams(text));

test("an operation or a share in the address asks for slow against fast", () => {
  assert.equal(isSlowFast(params("query=shop.cpu")), false);
  assert.equal(isSlowFast(params("query=shop.cpu&operation=GET+/")), true);
  assert.equal(isSlowFast(params("query=shop.cpu&share=5%25")), true);
});

test("what the address says is what is put into it", () => {
  const text = "query=shop.cpu&from=now-3h&until=now-1h&operation=GET+%2F&share=1%25&attribution=own";
  const said = Object.entries(slowFastParams(slowFastStateOf(params(text))));
  assert.equal(new URLSearchParams(said as [string, string][]).toString(), text);
  assert.equal(slowFastStateOf(params(text)).attribution, "");
  assert.equal(slowFastStateOf(params("operation=a")).attribution, "root");
  assert.deepEqual(slowFastParams(slowFastStateOf(params("operation=a"))), { query: null, from: null, until: null, operation: "a", share: "5%", attribution: null });
});

test("shares are read as people write them", () => {
  assert.equal(parseShare("5"), "5%");
  assert.equal(parseShare(" 2,5 % "), "2.5%");
  assert.equal(parseShare("0.1%"), "0.1%");
  for (const wrong of ["", "0", "0.001", "91", "100", "-5", "5x", "1e2", "%"]) assert.equal(parseShare(wrong), null, wrong);
});

test("the sides are named by their share", () => {
  assert.deepEqual(titlesOf("5%"), { fast: "Fastest 95 %", slow: "Slowest 5 %" });
  assert.deepEqual(titlesOf("0.1%"), { fast: "Fastest 99.9 %", slow: "Slowest 0.1 %" });
  assert.deepEqual(titlesOf("much"), { fast: "The rest", slow: "Slowest" });
});

test("relative times are asked for as moments, and the command says the same", () => {
  const query = slowFastQuery({ query: "shop.cpu", range: { from: "now-1h", until: "now" }, operation: "GET /it's", share: "5%", attribution: "" }, 1_700_000_000_000);
  assert.deepEqual([query.from, query.until], [1_699_996_400_000, 1_700_000_000_000]);
  assert.equal(slowFastCommand(query, "http://h"), "hearth slow-fast shop.cpu --operation 'GET /it'\\''s' --share 5% --from 1699996400000 --until 1700000000000 --url http://h");
});
