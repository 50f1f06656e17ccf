// SPDX-License-Identifier: Apache-2.0
// Traces: searching them, one of them with all its spans, and the operations that there are. Absolute times are nanoseconds
// since 1970 and lose their last digits here; offsets within a trace are exact.

import { getJson, type Message } from "./client.ts";

export interface ServiceCount {
  name: string;
  n_spans: number;
  n_errors: number;
}

export interface FoundTrace {
  trace_id: string;
  start_ns: number;
  duration_ns: number;
  n_spans: number;
  n_errors: number;
  is_cut: boolean; // there are more spans than were counted
  root: { span_id: string; service: string; operation: string };
  services: ServiceCount[];
  matched: { span_id: string; service: string; operation: string; start_ns: number; duration_ns: number; is_error: boolean };
  n_matched: number;
}

export type Order = "newest" | "slowest";

export interface TraceSearch {
  service: string;
  operation: string;
  min: string; // durations as the server reads them: 10ms; "" = any
  max: string;
  isError: boolean;
  attributes: readonly { name: string; value: string }[];
  query: string; // of profiles, with `function`: traces whose spans sampled it
  function: string;
  from: string;
  until: string;
  order: Order;
}

interface TracesAnswer {
  traces: FoundTrace[];
  n_searched: number;
  next_page: string | null;
}

/** What was found so far, and how to go on. */
export interface Found {
  traces: FoundTrace[];
  nextPage: string | null;
  messages: Message[];
}

export const pageRows = 50;

/** One more page behind what was found before. */
async function getPage(search: TraceSearch, before: Found, signal: AbortSignal): Promise<Found> {
  const { service, operation, query, from, until, order } = search;
  const { data, messages } = await getJson<TracesAnswer>(
    "traces",
    {
      service, operation, query, function: search.function, from, until, order, limit: pageRows, page: before.nextPage,
      "min-duration": search.min, "max-duration": search.max, error: search.isError,
      attribute: search.attributes.map(({ name, value }) => `${name}=${value}`),
    },
    signal,
  );
  const known = new Set(before.traces.map((one) => one.trace_id));
  return { traces: [...before.traces, ...data.traces.filter((one) => !known.has(one.trace_id))], nextPage: data.next_page, messages };
}

export const nothingFound: Found = { traces: [], nextPage: null, messages: [] };

/** At least `nRows` traces if there are so many; goes on from `before`, what the same search found and has more of. */
export async function findTraces(search: TraceSearch, nRows: number, before: Found, signal: AbortSignal): Promise<Found> {
  let found = before;
  for (;;) {
    const next = await getPage(search, found, signal);
    const isNew = next.traces.length > found.traces.length;
    found = next;
    if (!isNew || found.nextPage === null || found.traces.length >= nRows) return found;
  }
}

export type AttributeValue = string | number | boolean | null | readonly unknown[] | Record<string, unknown>;

export interface Attribute {
  key: string;
  value: AttributeValue;
}

export interface SpanSamples {
  type: string; // of profiles, in full
  unit: string;
  n_samples: number;
  value: number;
}

/** Where the time of a span went; the four sum to its duration. */
export interface Latency {
  cpu_ns: number;
  off_cpu_ns: number | null; // null: not sampled
  children_ns: number;
  unknown_ns: number;
}

export interface Span {
  span_id: string;
  parent_id: string | null;
  resource: number;
  service: string;
  operation: string;
  kind: string;
  offset_ns: number;
  duration_ns: number;
  status: "unset" | "ok" | "error";
  message: string;
  depth: number;
  is_local_root: boolean;
  is_orphan?: boolean;
  scope: string | null;
  attributes: Attribute[];
  n_dropped_attributes: number;
  events: { offset_ns: number; name: string; attributes: Attribute[] }[];
  links: { trace_id: string; span_id: string; attributes: Attribute[] }[];
  samples: SpanSamples[];
  latency: Latency;
}

export type Attribution = "own" | "root";

/** Spans are in the order of a waterfall: depth first, children by their start. */
export interface Trace {
  trace_id: string;
  start_ns: number;
  duration_ns: number;
  n_spans: number;
  n_errors: number;
  is_cut: boolean;
  attribution: Attribution;
  link: string | null;
  services: ServiceCount[];
  resources: { service: string; attributes: Attribute[] }[];
  spans: Span[];
}

export async function getTrace(id: string, signal: AbortSignal): Promise<Trace> {
  return (await getJson<Trace>("trace", { id }, signal)).data;
}

export interface Operation {
  service: string;
  operation: string;
  n_spans: number;
  n_errors: number;
  total_ns: number;
  p50_ns: number;
  p95_ns: number;
  p99_ns: number;
  max_ns: number;
}

export async function getOperations(range: { from: string; until: string }, signal: AbortSignal): Promise<{ operations: Operation[]; is_cut: boolean }> {
  return (await getJson<{ operations: Operation[]; is_cut: boolean }>("operations", range, signal)).data;
}
