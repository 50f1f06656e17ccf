// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { dotsOf, nearestDot } from "../src/views/traces/dots.ts";
import { sortedOperations } from "../src/views/traces/Operations.tsx";
import { asksForSpans, isDuration, isNarrowed, parseAttributes, parsePair, printAttributes, searchOf, timesAround, withAttribute } from "../src/views/traces/state.ts";
import { foundOf, operationsOf, syntheticTrace } from "./traces-made.ts";

test("without parameters, the newest traces of the last hour are searched", () => {
  const state = searchOf(new Map());
  assert.deepEqual([state.from, state.until, state.order, state.nRows], ["now-1h", "now", "newest", 50]);
  assert.equal(isNarrowed(state), false);
});

test("a service alone asks for traces, not for certain spans of them", () => {
  const state = searchOf(new Map([["service", "shop"]]));
  assert.deepEqual([isNarrowed(state), asksForSpans(state)], [true, false]);
  assert.equal(asksForSpans(searchOf(new Map([["operation", "GET /"]]))), true);
});

test("the address says everything about a search", () => {
  const state = searchOf(new Map(Object.entries({
    service: "shop", operation: "GET /", min: "10ms", max: "1s", errors: "1", attributes: '{http.route="/cart", user="a, \\"b\\""}', order: "slowest", rows: "150",
    query: "shop.cpu", function: "^parse$",
  })));
  assert.deepEqual(state.attributes.map(({ name, value }) => [name, value]), [["http.route", "/cart"], ["user", 'a, "b"']]);
  assert.deepEqual([state.min, state.max, state.isError, state.order, state.nRows, state.function], ["10ms", "1s", true, "slowest", 150, "^parse$"]);
  assert.equal(isNarrowed(state), true);
});

test("numbers of rows that make no sense are left out", () => {
  for (const rows of ["-1", "many", "NaN", "3"]) assert.equal(searchOf(new Map([["rows", rows]])).nRows, 50);
  assert.equal(searchOf(new Map([["rows", "1e9"]])).nRows, 2000);
});

test("attributes go into the address and come back, whatever is in them", () => {
  const pairs = [{ name: "a b", value: '"quoted", {and} =' }, { name: "http.route", value: "" }, { name: "n", value: "line\nend\0" }];
  assert.deepEqual(parseAttributes(printAttributes(pairs)!).map(({ name, value }) => ({ name, value })), pairs);
  assert.equal(printAttributes([]), null);
  assert.deepEqual(parseAttributes("not { readable"), []);
});

test("another value of an attribute takes the place of the first", () => {
  const pairs = withAttribute(withAttribute([], "a", "1"), "a", "2");
  assert.deepEqual(pairs, [{ name: "a", value: "2" }]);
});

test("an attribute is typed as name=value, in quotes or not", () => {
  assert.deepEqual(parsePair(' http.route = "/cart" '), { name: "http.route", value: "/cart" });
  assert.deepEqual(parsePair("a=b=c"), { name: "a", value: "b=c" });
  assert.deepEqual(parsePair("a="), { name: "a", value: "" });
  for (const text of ["", "a", "=b", " = b"]) assert.equal(parsePair(text), null);
});

test("durations are numbers with a unit", () => {
  for (const text of ["", "10ms", "1.5s", "2m", "3h", "5us", "5µs", "7ns", "1d", "1m30s", "2min"]) assert.ok(isDuration(text), text);
  for (const text of ["10", "ms", "-1s", "1 s", "5 µs"]) assert.ok(!isDuration(text), text);
});

test("dots stand by their time and by the power of ten of their duration", () => {
  const traces = [10, 1000].map((n, i) => foundOf(syntheticTrace(n, i + 1, (1000 + i * 1500) * 1e6)));
  const { dots, lowNs, highNs, fromMs, untilMs } = dotsOf(traces);
  assert.deepEqual([lowNs, highNs, fromMs, untilMs], [1e7, 1e9, 1000, 2500]);
  assert.deepEqual(dots.map(({ x, y }) => [x, y]), [[0, 1], [1, 0]]);
  assert.equal(nearestDot(dots, 98, 3, 100, 100), dots[1]);
  assert.equal(nearestDot(dots, 70, 50, 100, 100), null);
});

test("one trace alone, and one that took no time, have dots too", () => {
  const one = { ...foundOf(syntheticTrace(10)), duration_ns: 0 };
  const { dots, lowNs, highNs } = dotsOf([one]);
  assert.deepEqual([dots.length, lowNs, highNs, dots[0].x], [1, 1, 10, 0.5]);
  assert.ok(dots[0].y >= 0 && dots[0].y <= 1);
});

test("operations are sorted by any column", () => {
  const operations = operationsOf([syntheticTrace(300)]);
  const by = (id: string, isDescending: boolean) => sortedOperations(operations, { id, isDescending });
  assert.ok(by("p95", true).every((one, i, all) => i === 0 || all[i - 1].p95_ns >= one.p95_ns));
  assert.ok(by("operation", false).every((one, i, all) => i === 0 || all[i - 1].operation <= one.operation));
  assert.equal(by("nonsense", true)[0].total_ns, Math.max(...operations.map((one) => one.total_ns)));
});

test("from an old trace searches go on about its time, from a recent one about now", () => {
  assert.deepEqual(timesAround(1_000_000.5, 1_000_000 + 60e3), {});
  assert.deepEqual(timesAround(10_000_000.5, 10_000_000 + 7200e3), { from: "8200000", until: "11800000" });
});
