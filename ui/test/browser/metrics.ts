// SPDX-License-Identifier: Apache-2.0
// What the processes of a service say of themselves, as OpenTelemetry sends it: a point a minute.

interface Wave {
  name: string;
  unit: string;
  kind: "gauge" | "sum" | "counter" | "histogram";
  valueAt: (minute: number) => number;
}

const waves: Wave[] = [
  { name: "runtime.memory.heap_alloc_bytes", unit: "By", kind: "gauge", valueAt: (minute) => 80e6 + 4e6 * (minute % 12) },
  { name: "process.memory.usage", unit: "By", kind: "sum", valueAt: (minute) => 210e6 + 0.5e6 * (minute % 60) },
  { name: "runtime.gc.pause_duration_seconds", unit: "s", kind: "histogram", valueAt: (minute) => (minute % 12 === 0 ? 0.012 : 0.002) },
  { name: "process.cpu.time", unit: "s", kind: "counter", valueAt: (minute) => 60 * (1.2 + 0.4 * Math.sin(minute / 5)) },
  { name: "process.thread.count", unit: "{thread}", kind: "sum", valueAt: (minute) => 14 + (minute % 3) },
  { name: "process.unix.file_descriptor.count", unit: "{file_descriptor}", kind: "sum", valueAt: () => 40 },
];

const bounds = [0.001, 0.003, 0.01, 0.03];
const cumulative = 2;

function dataOf({ kind, valueAt }: Wave, minutes: readonly number[]): object {
  let sum = 0;
  const counts = new Array<number>(bounds.length + 1).fill(0);
  const dataPoints = minutes.map((minute) => {
    const value = valueAt(minute);
    sum += value;
    const at = { startTimeUnixNano: `${minutes[0] * 60}000000000`, timeUnixNano: `${minute * 60}000000000` };
    if (kind !== "histogram") return { ...at, asDouble: kind === "counter" ? sum : value };
    const bucket = bounds.findIndex((bound) => value <= bound);
    counts[bucket < 0 ? bounds.length : bucket] += 10;
    return { ...at, count: String(counts.reduce((a, b) => a + b)), sum, bucketCounts: counts.map(String), explicitBounds: bounds };
  });
  if (kind === "gauge") return { gauge: { dataPoints } };
  if (kind === "histogram") return { histogram: { dataPoints, aggregationTemporality: cumulative } };
  return { sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: kind === "counter" } };
}

/** A request for /v1/metrics: the `nMinutes` before `untilMs`. */
export function metricsRequest(service: string, untilMs: number, nMinutes: number): string {
  const last = Math.floor(untilMs / 60e3);
  const minutes = Array.from({ length: nMinutes }, (_, i) => last - nMinutes + i);
  const metrics = waves.map((wave) => ({ name: wave.name, unit: wave.unit, ...dataOf(wave, minutes) }));
  const attributes = [{ key: "service.name", value: { stringValue: service } }];
  return JSON.stringify({ resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ metrics }] }] });
}
