// SPDX-License-Identifier: Apache-2.0
// Values over time: /api/v1/timeseries and /api/v1/heatmap, and what was noted beside them, /api/v1/annotations.

import { call, getJson, type Message, type Query } from "./client.ts";

export interface SeriesGroup {
  labels: Record<string, string>;
  sum: number;
  points: (number | null)[]; // null where there are no profiles
}

export interface Series {
  query: string; // as the server understood it: TYPE{LABELS}
  fromMs: number;
  untilMs: number;
  stepMs: number;
  unit: string; // "cores", "bytes", "nanoseconds/second", ...
  kind: SeriesKind;
  isAveraged: boolean;
  groups: SeriesGroup[]; // the largest first
  nLeftOut: number; // groups beyond `top`
  remainder?: (number | null)[]; // what those come to, where it was found out
  messages: Message[];
}

export type SeriesKind = "sum" | "average" | "count" | "rate" | "cores";

export interface Exemplar {
  point: number;
  bucket: number;
  timeMs: number;
  value: number;
  profileId: string;
  spanId: string;
  series: string;
}

export interface Heatmap {
  query: string;
  fromMs: number;
  untilMs: number;
  stepMs: number;
  unit: string;
  kind: "profile" | "span";
  borders: number[]; // one more than there are buckets
  counts: number[][]; // of each point, of each bucket
  exemplars: Exemplar[];
  messages: Message[];
}

export interface Annotation {
  id: string;
  timeMs: number;
  text: string;
  labels: Record<string, string>;
}

interface SeriesAnswer {
  query: string;
  from_ns: number;
  until_ns: number;
  step_ns: number;
  unit: string;
  kind: SeriesKind;
  averaged: boolean;
  groups: SeriesGroup[];
  groups_left_out: number;
}

export async function getSeries(query: Query, signal?: AbortSignal): Promise<Series> {
  const { data, messages } = await getJson<SeriesAnswer>("timeseries", query, signal);
  return {
    query: data.query,
    fromMs: data.from_ns / 1e6,
    untilMs: data.until_ns / 1e6,
    stepMs: data.step_ns / 1e6,
    unit: data.unit,
    kind: data.kind,
    isAveraged: data.averaged,
    groups: data.groups,
    nLeftOut: data.groups_left_out,
    messages,
  };
}

interface HeatmapAnswer {
  query: string;
  from_ns: number;
  until_ns: number;
  step_ns: number;
  unit: string;
  kind: "profile" | "span";
  borders: number[];
  counts: number[][];
  exemplars: {
    point: number;
    bucket: number;
    time_ns: number;
    value: number;
    profile_id?: string;
    span_id?: string;
    series?: string;
  }[];
}

export async function getHeatmap(query: Query, signal?: AbortSignal): Promise<Heatmap> {
  const { data, messages } = await getJson<HeatmapAnswer>("heatmap", query, signal);
  const isCpu = data.unit === "nanoseconds/second" && /^[^:]*:cpu:/.test(data.query);
  const scale = isCpu ? 1e-9 : 1; // CPU time per second is cores
  return {
    query: data.query,
    fromMs: data.from_ns / 1e6,
    untilMs: data.until_ns / 1e6,
    stepMs: data.step_ns / 1e6,
    unit: isCpu ? "cores" : data.unit,
    kind: data.kind,
    borders: data.borders.map((border) => border * scale),
    counts: data.counts,
    exemplars: data.exemplars.map((one) => ({
      point: one.point,
      bucket: one.bucket,
      timeMs: one.time_ns / 1e6,
      value: one.value * scale,
      profileId: one.profile_id ?? "",
      spanId: one.span_id ?? "",
      series: one.series ?? "",
    })),
    messages,
  };
}

interface AnnotationAnswer {
  id: string;
  time_ns: number;
  text: string;
  labels?: Record<string, string>;
}

export async function getAnnotations(query: Query, signal?: AbortSignal): Promise<Annotation[]> {
  const { data } = await getJson<{ annotations: AnnotationAnswer[] }>("annotations", query, signal);
  return data.annotations.map((one) => ({
    id: one.id,
    timeMs: one.time_ns / 1e6,
    text: one.text,
    labels: one.labels ?? {},
  }));
}

export async function addAnnotation(timeMs: number, text: string, labels: Record<string, string>): Promise<void> {
  await call(
    "annotations",
    {},
    {
      method: "POST",
      body: JSON.stringify({ time: new Date(timeMs).toISOString(), text, labels }),
      headers: { "content-type": "application/json" },
    },
  );
}
