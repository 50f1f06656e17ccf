// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { complete, inChunks, literal, queryOf, stepOf, typesOf, type FleetRow } from "../src/api/fleet.ts";
import type { Source } from "../src/api/status.ts";
import { endpointOf, guidesOf } from "../src/components/FirstRun.tsx";
import { sparkPath } from "../src/components/Sparkline.tsx";
import { changeOf } from "../src/lib/change.ts";
import { changeSentence, formatShareChange } from "../src/views/fleet/cells.tsx";
import { healthOf, rowsOf, sorted, type SortId } from "../src/views/fleet/rows.ts";

const flat = (value: number) => Array.from({ length: 12 }, (_, i) => value * (1 + (i % 3) / 100));
const row = (service: string, before: number | null, after: number | null): FleetRow => ({
  service, memory: null, lastMs: NaN,
  cpu: { type: "process_cpu:cpu:nanoseconds:cpu:nanoseconds", unit: "cores", before: before === null ? null : flat(before), after: after === null ? null : flat(after) },
});
const rows = rowsOf([row("same", 1, 1), row("gone", 5, null), row("much-more", 1, 3), row("less", 4, 2), row("new", null, 9), row("more", 8, 9)], new Map());
const order = (id: SortId, isDescending: boolean) => sorted(rows, id, isDescending).map((one) => one.service);

test("the surest worsening comes first by default, with what grew most as a part of itself ahead", () => {
  assert.deepEqual(order("worse", true), ["much-more", "more", "new", "same", "less", "gone"]);
});

test("every column sorts both ways, and what has no value is lowest", () => {
  assert.deepEqual(order("cpu", true), ["more", "new", "much-more", "less", "same", "gone"]);
  assert.equal(order("cpu", false)[0], "gone");
  assert.deepEqual(order("service", false), ["gone", "less", "more", "much-more", "new", "same"]);
});

test("a service that got worse in memory alone is worse", () => {
  const grown: FleetRow = { ...row("cache", 1, 1), memory: { type: "m", unit: "bytes", before: flat(1e6), after: flat(2e6) } };
  assert.equal(sorted(rowsOf([row("same", 1, 1), grown], new Map()), "worse", true)[0].service, "cache");
});

test("the health of a service adds up its sources", () => {
  const source = (change: Partial<Source>): Source => ({
    tenant: "t", service: "a", sender: "s", uploads: 0, seen: 0, stored: 0, downsampled: 0, weighted: 0, spilled: 0, dropped: {}, samples: 0, bytes: 0,
    first_seen: null, last_seen: null, last_error_at: null, last_error: "", ...change,
  });
  const health = healthOf([
    source({ dropped: { "too old": 2, "out of order": 5 }, last_seen: "2026-11-16T06:00:00Z", last_error: "old", last_error_at: "2026-11-16T01:00:00Z" }),
    source({ dropped: { "too old": 4 }, last_seen: "2026-11-16T05:00:00Z", last_error: "newer", last_error_at: "2026-11-16T02:00:00Z" }),
    source({ service: "b" }),
  ]);
  const a = health.get("a")!;
  assert.deepEqual([a.nSources, a.nDropped, a.lastError, a.lastSeenMs], [2, 11, "newer", Date.parse("2026-11-16T06:00:00Z")]);
  assert.deepEqual(a.dropped, [["too old", 6], ["out of order", 5]]);
  assert.ok(Number.isNaN(health.get("b")!.lastSeenMs));
  const seen = rowsOf(["a", "b", "c"].map((service) => ({ ...row(service, 1, 1), lastMs: 7 })), health).map((one) => one.seenMs);
  assert.deepEqual(seen, [a.lastSeenMs, 7, 7], "what the server does not know any more is known by the values");
});

test("CPU and memory in use are found among the types, the most common first", () => {
  const types = [
    "process_cpu:samples:count:cpu:nanoseconds", "java:itimer:nanoseconds:cpu:nanoseconds", "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
    "memory:alloc_space:bytes:space:bytes", "memory:inuse_space:bytes:space:bytes", "memory:inuse_objects:count:space:bytes",
  ].map((type, i) => ({ type, series: i }));
  assert.deepEqual(typesOf(types, "cpu"), ["process_cpu:cpu:nanoseconds:cpu:nanoseconds", "java:itimer:nanoseconds:cpu:nanoseconds"]);
  assert.deepEqual(typesOf(types, "memory"), ["memory:inuse_space:bytes:space:bytes"]);
});

test("queries of services with odd names are written in full", () => {
  const type = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
  assert.equal(queryOf("shop", type), "shop.cpu");
  assert.equal(queryOf("order.cpu", type), `${type}{service_name="order.cpu"}`);
  assert.equal(queryOf('a"b\\', type), `${type}{service_name="a\\"b\\\\"}`);
});

test("names become patterns of themselves, in lists that addresses have room for", () => {
  assert.equal(literal("a.b|(c)"), "a\\.b\\|\\(c\\)");
  const names = Array.from({ length: 1000 }, (_, i) => `service-${i}`);
  const chunks = inChunks(names);
  assert.deepEqual(chunks.flat(), names);
  assert.ok(chunks.every((chunk) => encodeURIComponent(chunk.join("|")).length <= 3000));
  assert.deepEqual(inChunks([]), []);
  assert.equal(inChunks(["x".repeat(10000), "y"]).length, 2);
});

test("points are whole minutes, and never more than forty", () => {
  for (const minutes of [1, 5, 60, 180, 1440, 10080, 43200, 525600]) {
    const step = stepOf(minutes * 60e3);
    assert.ok(step % 60e3 === 0 && (minutes * 60e3) / step <= 40, `${minutes} min: ${step}`);
  }
});

test("changes are told with a sign, and in full for those who ask", () => {
  assert.deepEqual([0.123, -0.034, 0, 24, -1].map(formatShareChange), ["+12 %", "−3.4 %", "±0 %", "×25", "−100 %"]);
  assert.equal(changeSentence(changeOf(null, [1, 1, 1]), "cores"), "1 core now; there were no profiles at this time yesterday.");
  assert.equal(changeSentence(changeOf([1, 1, 1], null), "cores"), "1 core at this time yesterday; there are no profiles now.");
  assert.match(changeSentence(changeOf(flat(2), flat(1)), "cores"), /^2\.02 cores at this time yesterday, 1\.01 cores now: −1\.01 cores ± /);
});

test("sparklines join points that are as far apart as usual, and break at longer gaps", () => {
  assert.equal(sparkPath([1, 1, 1], 1, 10, 10), "M0.0 1.0L5.0 1.0L10.0 1.0");
  assert.equal(sparkPath([1, null, 1, null, 1], 1, 8, 10).split("M").length - 1, 1, "every other point is joined");
  assert.equal(sparkPath([1, 1, 1, null, null, null, 1, 1], 1, 7, 10).split("M").length - 1, 2);
  assert.equal(sparkPath([null, 1, null], 1, 10, 10), "M5.0 1.0V9");
  assert.equal(sparkPath([], 0, 10, 10), "");
  assert.equal(sparkPath([0, 0], 0, 10, 10), "M0.0 9.0L10.0 9.0");
});

test("the guide names this very server, and the ports of its own that protocols have", () => {
  const listeners = [{ name: "listen", address: "0.0.0.0:4040" }, { name: "listen-otlp-grpc", address: "0.0.0.0:4317" }];
  const page = new URL("http://profiles.example:4040/");
  assert.equal(endpointOf(page, listeners, "listen-otlp-grpc"), "profiles.example:4317");
  assert.equal(endpointOf(page, listeners, "listen-otlp-http"), "profiles.example:4040");
  assert.equal(endpointOf(new URL("https://profiles.example/"), [], "listen"), "profiles.example:443");
  const code = guidesOf(page, listeners).flatMap((guide) => guide.steps.map((step) => step.code)).join("\n");
  assert.ok(code.includes("hearth demo --url http://profiles.example:4040\n"));
  assert.ok(code.includes("'http://profiles.example:4040/ingest?name=my-service'"));
});

test("the point that goes on is left out, unless it is all there is", () => {
  assert.deepEqual(complete([1, 2, 0.1]), [1, 2]);
  assert.deepEqual(complete([null, null, 3]), [null, null, 3]);
  assert.deepEqual(complete([]), []);
});
