// SPDX-License-Identifier: Apache-2.0
// Which metrics of a service make which strip below its timeline, and how their values are told.

import type { MetricSeries } from "../api/metrics.ts";
import type { Series } from "../api/series.ts";

export interface Strip {
  id: string;
  title: string;
  metric: string; // by its name
  series: Series;
}

interface StripRow {
  id: string;
  title: string;
  metrics: readonly string[]; // the first that a service has is shown
  unless?: string; // left out where there is the strip of this id, which says more
}

/** The strips from top to bottom. Names are those of OpenTelemetry's conventions, of now and of before, and runtime.*. */
const rows: readonly StripRow[] = [
  {
    id: "heap",
    title: "Heap",
    metrics: [
      "runtime.memory.heap_alloc_bytes", "go.memory.used", "v8js.memory.heap.used", "dotnet.gc.last_collection.heap.size",
      "process.runtime.go.mem.heap_alloc", "jvm.memory.used", "process.runtime.jvm.memory.usage",
    ],
  },
  { id: "objects", title: "Heap objects", metrics: ["runtime.memory.heap_objects", "process.runtime.go.mem.heap_objects"] },
  {
    id: "memory",
    title: "Memory of the process",
    unless: "heap",
    metrics: ["process.memory.usage", "process.runtime.cpython.memory", "dotnet.process.memory.working_set"],
  },
  {
    id: "gc",
    title: "GC pause",
    metrics: [
      "runtime.gc.pause_duration_seconds", "jvm.gc.duration", "v8js.gc.duration", "dotnet.gc.pause.time",
      "process.runtime.go.gc.pause_ns", "process.runtime.go.gc.pause_total_ns", "process.runtime.jvm.gc.duration",
    ],
  },
  { id: "collections", title: "GC runs", metrics: ["cpython.gc.collections", "process.runtime.cpython.gc_count"] },
  {
    id: "cpu",
    title: "CPU",
    metrics: [
      "process.cpu.time", "jvm.cpu.time", "dotnet.process.cpu.time", "process.runtime.cpython.cpu_time",
      "process.cpu.utilization", "jvm.cpu.recent_utilization", "process.runtime.cpython.cpu.utilization",
    ],
  },
  {
    id: "threads",
    title: "Threads",
    metrics: [
      "process.thread.count", "process.threads", "jvm.thread.count", "dotnet.thread_pool.thread.count",
      "process.runtime.cpython.thread_count", "process.runtime.jvm.threads.count",
    ],
  },
  { id: "goroutines", title: "Goroutines", metrics: ["go.goroutine.count", "process.runtime.go.goroutines"] },
  { id: "delay", title: "Event loop delay", metrics: ["nodejs.eventloop.delay.p99", "nodejs.eventloop.delay.mean"] },
];

/** Of a histogram: what is worth seeing, first. */
const statistics = ["p99", "p95", "max", "mean", "p50", "rate", "value"];

/** Units of OpenTelemetry as the page knows them, and what values are multiplied by. */
const units: Record<string, [string, number]> = {
  By: ["bytes", 1], kBy: ["bytes", 1e3], KiBy: ["bytes", 1024], MiBy: ["bytes", 1024 ** 2], GiBy: ["bytes", 1024 ** 3],
  s: ["seconds", 1], ms: ["seconds", 1e-3], us: ["seconds", 1e-6], ns: ["seconds", 1e-9], "%": ["share", 0.01],
};

function unitOf({ name, unit, statistic }: MetricSeries): [string, number] {
  const isRate = statistic === "rate" || unit.endsWith("/s");
  const told = unit.replace(/\/s$/, "") || (name.endsWith("_bytes") ? "By" : name.endsWith("_seconds") ? "s" : "");
  const [base, factor] = units[told] ?? [name.endsWith("utilization") ? "share" : "count", 1];
  if (!isRate) return [base, factor];
  if (base === "seconds") return [name.includes("cpu") ? "cores" : "share", factor]; /* of time that passed */
  return [`${base}/second`, factor];
}

/** The metric on points of its own step, as timelines want it. */
function seriesOf(metric: MetricSeries, fromMs: number, untilMs: number, stepMs: number): Series {
  const n = Math.max(0, Math.ceil((untilMs - fromMs) / stepMs));
  const points = new Array<number | null>(n).fill(null);
  const [unit, factor] = unitOf(metric);
  for (const [timeSeconds, value] of metric.points) {
    const at = Math.floor((timeSeconds * 1000 - fromMs) / stepMs);
    if (at >= 0 && at < n && Number.isFinite(value)) points[at] = value! * factor;
  }
  return {
    query: metric.name, fromMs, untilMs, stepMs, unit, kind: "sum", isAveraged: true, nLeftOut: 0, messages: [],
    groups: points.some((value) => value !== null) ? [{ labels: {}, sum: 0, points }] : [],
  };
}

function statisticRank({ statistic }: MetricSeries): number {
  const at = statistics.indexOf(statistic);
  return at < 0 ? statistics.length : at;
}

/** The strips that a service has something for. */
export function stripsOf(metrics: readonly MetricSeries[], fromMs: number, untilMs: number, stepMs: number): Strip[] {
  const strips = rows.flatMap(({ id, title, metrics: names }) => {
    for (const name of names) {
      const found = metrics.filter((one) => one.name === name).sort((a, b) => statisticRank(a) - statisticRank(b));
      for (const metric of found) {
        const series = seriesOf(metric, fromMs, untilMs, stepMs);
        const isPart = /^p\d/.test(metric.statistic) || ["mean", "max"].includes(metric.statistic);
        if (series.groups.length > 0) return [{ id, title: isPart ? `${title}, ${metric.statistic}` : title, metric: name, series }];
      }
    }
    return [];
  });
  const isThere = (id: string | undefined) => strips.some((strip) => strip.id === id);
  return strips.filter(({ id }) => !isThere(rows.find((row) => row.id === id)?.unless));
}
