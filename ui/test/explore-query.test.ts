// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  completed,
  completionAt,
  parseQuery,
  printQuery,
  quote,
  selectorOf,
  shortType,
  targetOf,
  withCondition,
  withTarget,
  type QueryParts,
} from "../src/lib/query.ts";

const cpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
const parts = (front: string, ...conditions: [string, "=" | "!=" | "=~" | "!~", string][]): QueryParts => ({
  front,
  conditions: conditions.map(([name, operator, value]) => ({ name, operator, value })),
});

test("queries are read as the server reads them", () => {
  const cases: [string, QueryParts][] = [
    ["checkout", parts("checkout")],
    ["  checkout.cpu ", parts("checkout.cpu")],
    ["checkout{}", parts("checkout")],
    ["", parts("")],
    ["{}", parts("")],
    ['checkout.cpu{version=2, zone=~"eu-.*"}', parts("checkout.cpu", ["version", "=", "2"], ["zone", "=~", "eu-.*"])],
    [`${cpu}{a!="b",}`, parts(cpu, ["a", "!=", "b"])],
    ["{a = 'x y' , b !~ `c\\d`}", parts("", ["a", "=", "x y"], ["b", "!~", "c\\d"])],
    ["version=2, zone=eu", parts("", ["version", "=", "2"], ["zone", "=", "eu"])],
    ['{"k8s.pod name"="y"}', parts("", ["k8s.pod name", "=", "y"])],
    ["shop{endpoint=/cart }", parts("shop", ["endpoint", "=", "/cart"])],
    ['{a="\\x41\\103\\u00e9\\U0001f525\\n\\"\\\\"}', parts("", ["a", "=", 'ACé🔥\n"\\'])],
    ['{a="\\xc3\\xa9"}', parts("", ["a", "=", "é"])],
    ["{a=}", parts("", ["a", "=", ""])],
  ];
  for (const [text, expected] of cases) assert.deepEqual(parseQuery(text), expected, text);
});

test("what is no query cannot be read", () => {
  for (const text of [
    "shop{",
    "shop{a",
    "shop{a=",
    'shop{a="x',
    "shop{a==b}",
    "shop{a~b}",
    "shop{=b}",
    "shop{a=b}c",
    '{a="\\q"}',
    '{a="\\400"}',
    "}",
    "a,b",
    '{a="b" c}',
    '{""="x"}',
  ]) {
    assert.equal(parseQuery(text), null, text);
  }
});

test("what is written is read again as it was", () => {
  const hostile = [
    "",
    " ",
    "a,b}",
    '"',
    "\\",
    "\n\t\0\x7f",
    "<b>&",
    "\u202e",
    "🔥",
    "é",
    "{}=!~",
    "x".repeat(10_000),
    "`'",
  ];
  for (const value of hostile) {
    const query = parts("shop.cpu", ["endpoint", "=", value], ["odd name\\", "!~", value]);
    assert.deepEqual(parseQuery(printQuery(query)), query, JSON.stringify(value.slice(0, 20)));
  }
  assert.equal(printQuery(parts("")), "{}");
  assert.equal(printQuery(parts("shop")), "shop");
  assert.equal(printQuery(parts("shop", ["a.b", "=", "1"])), 'shop{a.b="1"}');
  assert.equal(quote('a"\n\x01'), '"a\\"\\n\\x01"');
});

test("a query tells its service and type", () => {
  assert.deepEqual(targetOf(parts("shop.cpu")), { service: "shop", type: "cpu" });
  assert.deepEqual(targetOf(parts("order.cpu"), new Set(["order.cpu"])), { service: "order.cpu", type: "" });
  assert.deepEqual(targetOf(parts("shop.thing"), new Set(["shop"])), { service: "shop", type: "thing" });
  assert.deepEqual(targetOf(parts("a.b.example")), { service: "a.b.example", type: "" });
  assert.deepEqual(targetOf(parts(cpu, ["service_name", "=", "shop"])), { service: "shop", type: cpu });
  assert.deepEqual(targetOf(parts("", ["service_name", "=", "s"], ["__profile_type__", "=", cpu])), {
    service: "s",
    type: cpu,
  });
  assert.deepEqual(targetOf(parts("", ["service_name", "=~", "s"])), { service: "", type: "" });
});

test("services and types are changed without losing conditions", () => {
  const query = parts("shop.cpu", ["zone", "=", "eu"]);
  assert.equal(printQuery(withTarget(query, { service: "pay", type: "cpu" })), 'pay.cpu{zone="eu"}');
  assert.equal(printQuery(withTarget(query, { service: "shop", type: "" })), 'shop{zone="eu"}');
  assert.equal(printQuery(withTarget(query, { service: "", type: cpu })), `${cpu}{zone="eu"}`);
  assert.equal(
    printQuery(withTarget(query, { service: "a,b", type: "cpu" }, [cpu])),
    `${cpu}{service_name="a,b", zone="eu"}`,
  );
  assert.equal(printQuery(withTarget(query, { service: "a,b", type: "cpu" })), '{service_name="a,b", zone="eu"}');
  const two = ["cpu:samples:count:cpu:nanoseconds", "wall:samples:count:cpu:nanoseconds"];
  assert.equal(
    printQuery(withTarget(query, { service: "shop", type: two[0] }, two)),
    `${two[0]}{service_name="shop", zone="eu"}`,
  );
  assert.equal(printQuery(withTarget(query, { service: "shop", type: cpu }, [cpu, ...two])), 'shop.cpu{zone="eu"}');
});

test("types have short names", () => {
  assert.equal(shortType(cpu), "cpu");
  assert.equal(shortType("mutex:contentions:count:mutex:count"), "mutex_count");
  assert.equal(shortType("block:delay:nanoseconds:block:count"), "block_duration");
  assert.equal(shortType("goroutine:goroutine:count:goroutine:count"), "goroutines");
  assert.equal(shortType("cpu"), "cpu");
});

test("a condition takes the place of the one with = on the same label", () => {
  const query = parts("shop", ["a", "=", "1"], ["b", "!=", "2"]);
  assert.equal(printQuery(withCondition(query, { name: "a", operator: "=", value: "3" })), 'shop{a="3", b!="2"}');
  assert.equal(
    printQuery(withCondition(query, { name: "b", operator: "!=", value: "4" })),
    'shop{a="1", b!="2", b!="4"}',
  );
});

test("lists are asked for by the rest of the query", () => {
  const query = parts("shop.cpu", ["zone", "=", "eu"], ["__type__", "=", "cpu"]);
  assert.equal(selectorOf(query), '{service_name="shop", zone="eu"}');
  assert.equal(selectorOf(query, undefined, "zone"), '{service_name="shop"}');
  assert.equal(selectorOf(query, undefined, "service_name"), '{zone="eu"}');
  assert.equal(selectorOf(parts("")), "");
});

test("what stands at the cursor can be completed", () => {
  const at = (marked: string) => completionAt(marked.replace("|", ""), marked.indexOf("|"));
  assert.deepEqual(at("sho|p{a=b}"), { kind: "front", name: "", typed: "sho", start: 0, end: 4 });
  assert.deepEqual(at("|"), { kind: "front", name: "", typed: "", start: 0, end: 0 });
  assert.deepEqual(at("shop{|"), { kind: "name", name: "", typed: "", start: 5, end: 5 });
  assert.deepEqual(at("shop{zo|ne=1}"), { kind: "name", name: "", typed: "zo", start: 5, end: 9 });
  assert.deepEqual(at("shop{zone|"), { kind: "name", name: "", typed: "zone", start: 5, end: 9 });
  assert.deepEqual(at("shop{zone |"), { kind: "operator", name: "zone", typed: "", start: 10, end: 10 });
  assert.deepEqual(at("shop{zone=|}"), { kind: "value", name: "zone", typed: "", start: 10, end: 10 });
  assert.deepEqual(at('shop{zone="eu|'), { kind: "value", name: "zone", typed: "eu", start: 10, end: 13 });
  assert.deepEqual(at('shop{zone="eu|-1", b=c}'), { kind: "value", name: "zone", typed: "eu", start: 10, end: 16 });
  assert.deepEqual(at('shop{zone="eu", |}'), { kind: "name", name: "", typed: "", start: 16, end: 16 });
  assert.deepEqual(at('shop{zone="eu", b=~x|}'), { kind: "value", name: "b", typed: "x", start: 19, end: 20 });
  assert.equal(at("shop{a=b}|"), null);
});

test("a choice is put in at the cursor, quoted where it has to be", () => {
  const put = (marked: string, choice: string) => {
    const [text, cursor] = [marked.replace("|", ""), marked.indexOf("|")];
    const next = completed(text, completionAt(text, cursor)!, choice);
    return `${next.text.slice(0, next.cursor)}|${next.text.slice(next.cursor)}`;
  };
  assert.equal(put("sh|", "shop"), "shop|");
  assert.equal(put("sh|{a=b}", "shop"), "shop|{a=b}");
  assert.equal(put("shop{zo|", "zone"), "shop{zone=|");
  assert.equal(put('shop{zo|="eu"}', "zone"), 'shop{zone|="eu"}');
  assert.equal(put("shop{|", "odd name"), 'shop{"odd name"=|');
  assert.equal(put("shop{zone=e|", 'e"u'), 'shop{zone="e\\"u"|}');
  assert.equal(put('shop{zone="e|", b=c}', "eu"), 'shop{zone="eu"|, b=c}');
  assert.equal(put("shop{zone |", "!="), "shop{zone !=|");
});
