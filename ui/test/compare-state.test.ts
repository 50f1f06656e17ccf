// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { diffCommand, diffQuery } from "../src/api/diff.ts";
import { compareParams, compareStateOf, presets, shiftOf, swapped, withSelection, withShift, withValues } from "../src/views/compare/state.ts";

const parse = (params: Record<string, string>) => compareStateOf(new Map(Object.entries(params)));
const given = (params: ReturnType<typeof compareParams>) => Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));

test("without parameters it is the last hour against the hour before", () => {
  const state = parse({ query: "shop.cpu" });
  assert.deepEqual(state.after.range, { from: "now-1h", until: "now" });
  assert.deepEqual(state.before, { query: "shop.cpu", range: { from: "now-7200s", until: "now-3600s" } });
  assert.equal(state.scale, "durations");
  assert.deepEqual(given(compareParams(state)), { query: "shop.cpu" });
});

test("every state survives the way through the URL", () => {
  const states = [
    parse({ query: "a", from: "now-1d", base: "b", scale: "none" }),
    swapped(parse({ query: "a" })),
    withShift(parse({ query: "a" }), presets[2].shiftMs),
    withValues(parse({ query: "a{x=1}" }), "service_version", "1", 'two"'),
    parse({ query: "a", from: "1794805533985", until: "1794809133985", "base-from": "1794719133985", "base-until": "1794722733985", scale: "totals" }),
  ];
  for (const state of states) assert.deepEqual(parse(given(compareParams(state)) as Record<string, string>), state);
});

test("swapping twice is nothing", () => {
  const state = parse({ query: "a", base: "b", "base-from": "now-3h" });
  assert.deepEqual(swapped(swapped(state)), state);
});

test("presets are found again in the state that they make", () => {
  for (const { shiftMs } of presets) assert.equal(shiftOf(withShift(parse({ query: "a", from: "now-15m" }), shiftMs)), shiftMs);
  assert.equal(shiftOf(parse({ query: "a", base: "b" })), null);
  assert.equal(shiftOf(parse({ query: "a", "base-from": "now-5h" })), null);
});

test("two versions are compared over the same time, in the place of what the query said", () => {
  const state = withValues(parse({ query: 'shop.cpu{service_version="3"}' }), "service_version", "1", "2");
  assert.equal(state.before.query, 'shop.cpu{service_version="1"}');
  assert.equal(state.after.query, 'shop.cpu{service_version="2"}');
  assert.deepEqual(state.before.range, state.after.range);
});

test("the question to the server has both ranges, from the same moment", () => {
  const { before, after } = parse({ query: "a", "base-from": "now-1d", "base-until": "now-23h" });
  assert.deepEqual(diffQuery(before, after, "totals", 1e12), {
    baseline: "a", comparison: "a", scale: "totals", "baseline-from": 1e12 - 86400e3, "baseline-until": 1e12 - 82800e3, until: 1e12, "time-range": "3600000ms",
  });
});

test("times that are none, and ranges without a length, are refused with their side", () => {
  const { before, after } = parse({ query: "a" });
  assert.throws(() => diffQuery({ ...before, range: { from: "nonsense", until: "now" } }, after, "none", 1e12), /^Error: Before: “nonsense” is no time/);
  assert.throws(() => diffQuery(before, { ...after, range: { from: "now", until: "now-1h" } }, "none", 1e12), /^Error: After: the range ends/);
});

test("commands are quoted for shells", () => {
  assert.equal(diffCommand({ baseline: "a b", scale: "none", until: 5 }, "http://h:1"), "hearth diff --baseline 'a b' --scale none --until 5 --url http://h:1");
});

test("the side before follows the one after until it is chosen by itself", () => {
  const state = parse({ query: "a" });
  const other = withSelection(state, "after", { query: "b", range: { from: "now-1d", until: "now" } });
  assert.deepEqual(given(compareParams(other)), { query: "b", from: "now-1d", until: "now" });
  assert.deepEqual(other.before.range, { from: "now-172800s", until: "now-86400s" }, "the day before, not an hour before");
  const chosen = withSelection(other, "before", { ...other.before, query: "c" });
  assert.equal(withSelection(chosen, "after", { ...chosen.after, query: "d" }).before.query, "c");
  const weekly = withShift(state, presets[2].shiftMs);
  assert.equal(shiftOf(withSelection(weekly, "after", { query: "a", range: { from: "now-15m", until: "now" } })), presets[2].shiftMs);
});

test("a query on either side fills the other if that has none", () => {
  const empty = parse({});
  assert.deepEqual(given(compareParams(withSelection(empty, "before", { ...empty.before, query: "a" }))), { query: "a" });
  assert.deepEqual(given(compareParams(withSelection(empty, "after", { ...empty.after, query: "a" }))), { query: "a" });
});

test("times that cannot be read stay as they are written", () => {
  const state = parse({ query: "a", from: "nonsense" });
  assert.equal(state.after.range.from, "nonsense");
  assert.doesNotThrow(() => compareParams(withSelection(state, "after", { query: "b", range: state.after.range })));
});
