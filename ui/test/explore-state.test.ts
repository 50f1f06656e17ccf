// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { paramsOf } from "../src/api/flame.ts";
import { parseRoute } from "../src/lib/route.ts";
import { narrowingsOf, questionOf, stateOf } from "../src/views/explore/state.ts";

const state = (query: string) => stateOf(parseRoute("/explore", query));

test("spans, operations and who samples belong to are asked of the server", () => {
  const asked = paramsOf(questionOf(state("query=shop.cpu&span-id=00f067aa0ba902b7&operation=GET+/&attribution=root")));
  assert.deepEqual([asked["span-id"], asked.operation, asked.attribution], ["00f067aa0ba902b7", "GET /", "root"]);
});

test("who samples belong to matters for chosen spans alone", () => {
  assert.equal(questionOf(state("query=shop.cpu&attribution=root")).attribution, "");
  assert.equal(questionOf(state("query=shop.cpu&operation=a&attribution=own")).attribution, "");
  assert.deepEqual(narrowingsOf(state("query=shop.cpu&attribution=root")), []);
});

test("what narrows a query is told in short, each with a way to take it away", () => {
  const all = narrowingsOf(state("query=shop.cpu&filter=^a&span-id=00f067aa0ba902b7&trace-id=abc&operation=GET+/&attribution=root"));
  assert.deepEqual(all.map(({ text }) => text), ["with a function like ^a", "span 00f067aa…", "trace abc", "operation GET /", "and spans below"]);
  assert.deepEqual(all.map(({ params }) => Object.keys(params).join()), ["filter", "span-id", "trace-id", "operation", "attribution"]);
});
