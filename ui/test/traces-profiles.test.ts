// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Span } from "../src/api/traces.ts";
import { waitedFor } from "../src/views/traces/Overview.tsx";
import { exploreUrl, firstScope, queryFor, questionFor, samplesOf, slowFastUrl, sortedSamples, timesFor, typeName } from "../src/views/traces/profiles.ts";
import { criticalPath, treeOf } from "../src/views/traces/spans.ts";
import { pressKey, type WaterfallPlace } from "../src/views/traces/waterfallKeys.ts";
import { cpuType, hex, makeSpan, makeTrace } from "./traces-made.ts";

const heapType = "memory:alloc_space:bytes:space:bytes";
const latency = (cpu: number) => ({ cpu_ns: cpu, off_cpu_ns: null, children_ns: 0, unknown_ns: 0 });

/*  1 shop ─┬─ 2 shop ─── 3 bank
 *          └─ 4 bank              */
function example(): Span[] {
  return [
    makeSpan({ id: 1, parent: null, depth: 0, offset: 0, duration: 100e6, latency: latency(10) }),
    makeSpan({ id: 2, parent: 1, depth: 1, offset: 10e6, duration: 40e6, latency: latency(20) }),
    makeSpan({ id: 3, parent: 2, depth: 2, offset: 20e6, duration: 10e6, latency: latency(40), service: "bank" }),
    makeSpan({ id: 4, parent: 1, depth: 1, offset: 60e6, duration: 30e6, latency: latency(80), service: "bank" }),
  ];
}
const trace = makeTrace(example());
const tree = treeOf(trace);

test("CPU comes first, and what only counts its samples is left out", () => {
  const sample = (type: string, unit: string, n: number) => ({ type, unit, n_samples: n, value: 1 });
  const count = sample("process_cpu:samples:count:cpu:nanoseconds", "count", 9);
  const sorted = sortedSamples([count, sample(heapType, "bytes", 3), sample("off:samples:count::", "count", 2), sample(cpuType, "nanoseconds", 1)]);
  assert.deepEqual(sorted.map((one) => one.type), [cpuType, heapType, "off:samples:count::"]);
  assert.deepEqual(sortedSamples([count]), [count], "where it is all there is, it is offered");
});

test("a span has its own samples, and those below it in its service", () => {
  assert.deepEqual(samplesOf(tree, 0, "own").map((one) => one.value), [10]);
  assert.deepEqual(samplesOf(tree, 0, "root").map((one) => one.value), [30]);
  assert.deepEqual(samplesOf(tree, 1, "root").map((one) => one.value), [20]);
  assert.deepEqual(samplesOf(tree, 3, "operation").map((one) => one.value), [120]);
  assert.equal(tree.spans[0].samples[0].value, 10, "adding up changes no span");
});

test("a span without samples of its own shows those below it first", () => {
  assert.equal(firstScope(tree, 0), "own");
  assert.equal(firstScope({ ...tree, spans: tree.spans.map((one, i) => (i === 0 ? { ...one, samples: [] } : one)) }, 0), "root");
});

test("queries name the service and the type, whatever is in the name", () => {
  assert.equal(queryFor("shop", cpuType), "shop.cpu");
  assert.equal(queryFor("shop", ""), "shop");
  assert.equal(queryFor('a "b" {c}', cpuType), `${cpuType}{service_name="a \\"b\\" {c}"}`);
});

test("what is asked for is about the span, its subtree or its operation", () => {
  const own = questionFor(trace, tree.spans[1], "own", cpuType);
  assert.deepEqual([own.query, own.spanId, own.operation, own.attribution], ["shop.cpu", hex(2, 16), "", ""]);
  assert.equal(questionFor(trace, tree.spans[1], "root", cpuType).attribution, "root");
  const all = questionFor(trace, tree.spans[1], "operation", cpuType);
  assert.deepEqual([all.spanId, all.operation, all.attribution], ["", "operation 2", "root"]);
});

test("times around a span are whole milliseconds that hold its profiles", () => {
  const { from, until } = timesFor(trace, tree.spans[1], "own");
  assert.match(`${from} ${until}`, /^\d{13} \d{13}$/);
  const startMs = trace.start_ns / 1e6 + 10;
  assert.ok(Number(from) <= startMs - 60e3 && Number(until) >= startMs + 40 + 60e3);
  assert.ok(Number(timesFor(trace, tree.spans[1], "operation").from) < Number(from));
});

test("links to Explore and Compare carry all of it", () => {
  const explore = new URL(exploreUrl(questionFor(trace, tree.spans[1], "root", cpuType)), "http://page").searchParams;
  assert.deepEqual([explore.get("query"), explore.get("span-id"), explore.get("attribution")], ["shop.cpu", hex(2, 16), "root"]);
  const compare = new URL(slowFastUrl(trace, { ...tree.spans[1], operation: "GET /a?b&c" }, cpuType), "http://page");
  assert.equal(compare.pathname, "/compare");
  assert.deepEqual([compare.searchParams.get("operation"), compare.searchParams.get("share")], ["GET /a?b&c", "5%"]);
});

test("types are told in a word", () => {
  assert.equal(typeName(cpuType), "CPU");
  assert.equal(typeName(heapType), "alloc space");
});

test("the time that a trace waited is shared among its spans and services", () => {
  const path = criticalPath(tree);
  const bySpan = waitedFor(path, (span) => span);
  assert.equal(bySpan.reduce((sum, [, ns]) => sum + ns, 0), 100e6);
  assert.deepEqual(waitedFor(path, (span) => tree.spans[span].service), [["shop", 60e6], ["bank", 40e6]]);
});

test("keys walk over the rows, close and open, and zoom", () => {
  const did: unknown[] = [];
  const rows = {
    rows: Uint32Array.of(0, 1, 2, 3), isAllClosed: false, isClosed: (span: number) => span === 1, reveal: () => undefined,
    setClosed: (spans: readonly number[], closed: boolean) => void did.push(["close", ...spans, closed]),
  };
  const actions = {
    select: (span: number) => void did.push(["select", span]), show: (range: object) => void did.push(["show", range]),
    toSpan: (span: number) => void did.push(["zoom", span]), toggleFlame: () => void did.push(["flame"]),
  };
  const whole = { v0: 0, v1: 100e6 };
  const place: WaterfallPlace = { tree, rows, active: 0, pageRows: 3, range: whole, whole };
  const press = (key: string, at: Partial<WaterfallPlace> = {}) => [pressKey(key, { ...place, ...at }, actions), did.pop()];
  assert.deepEqual(press("ArrowDown"), [true, ["select", 1]]);
  assert.deepEqual(press("ArrowUp"), [true, ["select", 0]], "not beyond the first");
  assert.deepEqual(press("ArrowDown", { active: -1 }), [true, ["select", 0]]);
  assert.deepEqual(press("PageDown", { active: 2 }), [true, ["select", 3]]);
  assert.deepEqual(press("End"), [true, ["select", 3]]);
  assert.deepEqual(press("ArrowLeft"), [true, ["close", 0, true]]);
  assert.deepEqual(press("ArrowRight"), [true, ["select", 1]]);
  assert.deepEqual(press("ArrowRight", { active: 1 }), [true, ["close", 1, false]]);
  assert.deepEqual(press("ArrowLeft", { active: 1 }), [true, ["select", 0]], "closed already: up");
  assert.deepEqual(press("ArrowLeft", { active: 3 }), [true, ["select", 0]]);
  assert.deepEqual(press("Enter"), [true, ["flame"]]);
  assert.deepEqual(press("z", { active: 3 }), [true, ["zoom", 3]]);
  assert.deepEqual(press("+"), [true, ["show", { v0: 25e6, v1: 75e6 }]]);
  assert.deepEqual(press("0"), [false, undefined], "everything is shown already");
  assert.deepEqual(press("0", { range: { v0: 0, v1: 1e6 } }), [true, ["show", whole]]);
  assert.deepEqual(press("q"), [false, undefined]);
  assert.deepEqual(press("Enter", { active: -1 }), [false, undefined]);
  assert.deepEqual(press("ArrowDown", { rows: { ...rows, rows: new Uint32Array() }, active: -1 }), [true, undefined]);
});
