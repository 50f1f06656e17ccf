// SPDX-License-Identifier: Apache-2.0
// What a service with a runtime says of itself, as /api/v1/metrics answers it.

import type { FrontAnswer } from "./front.ts";

interface Wave {
  name: string;
  unit: string;
  kind: string;
  statistic: string;
  valueAt: (minute: number) => number;
}

const waves: Wave[] = [
  { name: "runtime.memory.heap_alloc_bytes", unit: "By", kind: "gauge", statistic: "value", valueAt: (minute) => 80e6 + 4e6 * (minute % 12) },
  { name: "process.memory.usage", unit: "By", kind: "sum", statistic: "value", valueAt: (minute) => 210e6 + 0.5e6 * (minute % 60) },
  { name: "runtime.gc.pause_duration_seconds", unit: "s", kind: "histogram", statistic: "p99", valueAt: (minute) => (minute % 12 === 0 ? 0.012 : 0.002) },
  { name: "process.cpu.time", unit: "s", kind: "sum", statistic: "rate", valueAt: (minute) => 1.2 + 0.4 * Math.sin(minute / 5) },
  { name: "process.thread.count", unit: "{thread}", kind: "sum", statistic: "value", valueAt: (minute) => 14 + (minute % 3) },
  { name: "process.unix.file_descriptor.count", unit: "{file_descriptor}", kind: "sum", statistic: "value", valueAt: () => 40 },
];

export function metricsAnswer(params: URLSearchParams): FrontAnswer {
  const [fromSeconds, untilSeconds] = [Number(params.get("from")) / 1000, Number(params.get("until")) / 1000];
  const step = Number.parseInt(params.get("step") ?? "60", 10);
  const times: number[] = [];
  for (let at = fromSeconds; at < untilSeconds; at += step) times.push(at);
  const series = waves.map(({ valueAt, ...rest }) => ({ ...rest, labels: {}, points: times.map((at) => [at, valueAt(Math.floor(at / 60))]) }));
  return { status: 200, type: "application/json", body: JSON.stringify({ series, step_s: step }) };
}
