// SPDX-License-Identifier: Apache-2.0
// Metrics of a service's processes and runtimes over time: /api/v1/metrics.

import { getJson, type Query } from "./client.ts";

export interface MetricSeries {
  name: string;
  unit: string; // as OpenTelemetry writes it: By, s, 1, {thread}
  kind: "gauge" | "sum" | "histogram";
  statistic: string; // what of it this is: value, rate, mean, p99
  labels: Record<string, string>;
  points: [number, number | null][]; // seconds since 1970
}

export interface Metrics {
  series: MetricSeries[];
  stepMs: number;
}

export async function getMetrics(query: Query, signal?: AbortSignal): Promise<Metrics> {
  const { data } = await getJson<{ series: MetricSeries[]; step_s: number }>("metrics", query, signal);
  return { series: data.series, stepMs: data.step_s * 1000 };
}
