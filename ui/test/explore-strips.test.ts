// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetricSeries } from "../src/api/metrics.ts";
import { formatPoint } from "../src/lib/series.ts";
import { stripsOf } from "../src/lib/strips.ts";

const [fromMs, untilMs, stepMs] = [1_700_000_000_000, 1_700_000_120_000, 30_000];

function metric(name: string, unit: string, statistic: string, ...values: (number | null)[]): MetricSeries {
  return { name, unit, kind: "gauge", statistic, labels: {}, points: values.map((value, i) => [fromMs / 1000 + i * 30, value]) };
}

function strips(...metrics: MetricSeries[]) {
  return stripsOf(metrics, fromMs, untilMs, stepMs);
}

function told(one: MetricSeries): string {
  const { series } = strips(one)[0];
  return formatPoint(series.groups[0].points[0]!, series.unit);
}

test("strips come in the order of the table, whatever order metrics have", () => {
  const found = strips(metric("process.thread.count", "{thread}", "value", 4), metric("runtime.memory.heap_objects", "{object}", "value", 4), metric("runtime.memory.heap_alloc_bytes", "By", "value", 1));
  assert.deepEqual(found.map(({ title }) => title), ["Heap", "Heap objects", "Threads"]);
});

test("memory of the process is shown where there is nothing about the heap", () => {
  const memory = metric("process.memory.usage", "By", "value", 7);
  assert.deepEqual(strips(memory).map(({ id }) => id), ["memory"]);
  assert.deepEqual(strips(memory, metric("go.memory.used", "By", "value", 1)).map(({ id }) => id), ["heap"]);
});

test("metrics that no strip is about are left out", () => {
  assert.deepEqual(strips(metric("process.uptime", "s", "value", 1)), []);
});

test("of metrics that say the same, the preferred one is shown, and only if it has points", () => {
  const all = [metric("process.cpu.utilization", "1", "value", 0.5), metric("process.cpu.time", "s", "rate", 1.5)];
  assert.equal(strips(...all)[0].metric, "process.cpu.time");
  assert.equal(strips(all[0], metric("process.cpu.time", "s", "rate", null, null))[0].metric, "process.cpu.utilization");
});

test("a histogram is shown by its slowest values, and the title says so", () => {
  const [strip] = strips(metric("jvm.gc.duration", "s", "mean", 0.001), metric("jvm.gc.duration", "s", "p99", 0.02));
  assert.equal(strip.title, "GC pause, p99");
  assert.equal(strip.series.groups[0].points[0], 0.02);
});

test("values are told in units that people read", () => {
  assert.equal(told(metric("runtime.memory.heap_alloc_bytes", "", "value", 2 ** 20)), "1 MiB");
  assert.equal(told(metric("process.memory.usage", "KiBy", "value", 2048)), "2 MiB");
  assert.equal(told(metric("runtime.gc.pause_duration_seconds", "", "p99", 0.002)), "2 ms");
  assert.equal(told(metric("runtime.gc.pause_duration_seconds", "s", "rate", 0.01)), "1.00 %");
  assert.equal(told(metric("process.runtime.jvm.gc.duration", "ms", "p99", 3)), "3 ms");
  assert.equal(told(metric("process.cpu.time", "s/s", "rate", 1.5)), "1.5 cores");
  assert.equal(told(metric("process.cpu.utilization", "1", "value", 0.25)), "25.0 %");
  assert.equal(told(metric("process.thread.count", "{thread}", "value", 12)), "12");
  assert.equal(told(metric("cpython.gc.collections", "{collection}", "rate", 3)), "3/s");
});

test("points fall on the grid of the answer; gaps and what lies outside stay out", () => {
  const one = metric("process.thread.count", "{thread}", "value", 1, null, 3);
  one.points.push([fromMs / 1000 - 30, 9], [untilMs / 1000, 9], [Number.NaN, 9]);
  const [{ series }] = strips(one);
  assert.deepEqual(series.groups[0].points, [1, null, 3, null]);
  assert.deepEqual([series.fromMs, series.untilMs, series.stepMs], [fromMs, untilMs, stepMs]);
});
