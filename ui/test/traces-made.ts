// SPDX-License-Identifier: Apache-2.0
// Traces as /api/v1 answers them, made up: for tests, for the bench, and for looking at the page without a server that has any.

import type { FoundTrace, Latency, Operation, Span, Trace } from "../src/api/traces.ts";
import { randomOf } from "./browser/seed.ts";

export const cpuType = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

const operations: Record<string, string[]> = {
  frontend: ["GET /cart", "GET /product/{id}", "POST /checkout"],
  checkout: ["Checkout/Place", "promotions.evaluate", "cart.load"],
  payments: ["Payments/Charge", "fraud.rules", "ledger.append"],
  inventory: ["Inventory/Reserve", "SELECT stock"],
  search: ["Search/Query", "index.lookup"],
};
const serviceNames = Object.keys(operations);

export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

export interface SpanOptions {
  id: number;
  parent: number | null;
  depth: number;
  offset: number;
  duration: number;
  service?: string;
  operation?: string;
  isError?: boolean;
  latency?: Latency;
}

/** One span; what is not said is plain. */
export function makeSpan(options: SpanOptions): Span {
  const { id, parent, depth, offset, duration, service = "shop", operation = `operation ${id}`, isError = false } = options;
  const latency = options.latency ?? { cpu_ns: 0, off_cpu_ns: null, children_ns: 0, unknown_ns: duration };
  return {
    span_id: hex(id, 16), parent_id: parent === null ? null : hex(parent, 16), resource: 0, service, operation, kind: "internal", offset_ns: offset,
    duration_ns: duration, status: isError ? "error" : "unset", message: isError ? "it failed" : "", depth, is_local_root: parent === null, scope: null,
    attributes: [{ key: "number", value: id }], n_dropped_attributes: 0, events: [], links: [],
    samples: latency.cpu_ns > 0 ? [{ type: cpuType, unit: "nanoseconds", n_samples: Math.ceil(latency.cpu_ns / 1e7), value: latency.cpu_ns }] : [],
    latency,
  };
}

export function makeTrace(spans: Span[], id = 1): Trace {
  const counts = new Map<string, { name: string; n_spans: number; n_errors: number }>();
  for (const span of spans) {
    const count = counts.get(span.service) ?? { name: span.service, n_spans: 0, n_errors: 0 };
    count.n_spans++;
    if (span.status === "error") count.n_errors++;
    counts.set(span.service, count);
  }
  const services = [...counts.values()].sort((a, b) => b.n_spans - a.n_spans);
  return {
    trace_id: hex(id, 32), start_ns: 1789948800e9, duration_ns: Math.max(0, ...spans.map((one) => one.offset_ns + one.duration_ns)),
    n_spans: spans.length, n_errors: spans.filter((one) => one.status === "error").length, is_cut: false, attribution: "own", link: null,
    services, resources: [{ service: "shop", attributes: [{ key: "service.name", value: "shop" }, { key: "host.name", value: "a" }] }], spans,
  };
}

/** A trace as a shop makes them: services that call each other, work of their own between, a few errors. */
export function syntheticTrace(nSpans: number, seed = 1, startNs = 1789948800e9): Trace {
  const random = randomOf(seed);
  const spans: Span[] = [];
  const grow = (parent: number, depth: number, offset: number, duration: number, budget: number, service: string): void => {
    const id = spans.length + 1;
    const names = operations[service];
    const span = makeSpan({ id, parent: parent || null, depth, offset, duration, service, operation: names[Math.floor(random() * names.length)], isError: random() < 0.01 });
    spans.push(span);
    span.kind = depth === 0 || parent === 0 ? "server" : "internal";
    span.attributes.push({ key: "http.route", value: "/cart" }, { key: "http.status_code", value: span.status === "error" ? 500 : 200 });
    if (random() < 0.1) span.events.push({ offset_ns: offset + duration / 3, name: "cache miss", attributes: [{ key: "key", value: "a" }] });
    let [left, at, children] = [budget - 1, offset, 0];
    while (left > 0) {
      const share = depth < 1 ? Math.ceil(left * 0.12) : 1 + Math.floor(random() * left);
      const gap = duration * 0.02 * random();
      const length = Math.min(offset + duration - at - gap, (duration * share) / budget);
      if (length <= 0) break;
      grow(id, depth + 1, at + gap, length, share, random() < 0.35 ? serviceNames[Math.floor(random() * serviceNames.length)] : service);
      at += gap + length;
      children += length;
      left -= share;
    }
    const rest = Math.max(0, duration - children);
    const cpu = Math.round(rest * random());
    span.latency = { cpu_ns: cpu, off_cpu_ns: null, children_ns: duration - rest, unknown_ns: rest - cpu };
    if (cpu > 0) span.samples = [{ type: cpuType, unit: "nanoseconds", n_samples: Math.ceil(cpu / 1e7), value: cpu }];
  };
  grow(0, 0, 0, nSpans * 1e6, nSpans, "frontend");
  while (spans.length < nSpans) spans.push(makeSpan({ id: spans.length + 1, parent: 1, depth: 1, offset: spans.length * 9e5, duration: 5e5, service: "search" }));
  return { ...makeTrace(spans, seed), start_ns: startNs };
}

export function foundOf(trace: Trace): FoundTrace {
  const [root] = trace.spans;
  return {
    trace_id: trace.trace_id, start_ns: trace.start_ns, duration_ns: trace.duration_ns, n_spans: trace.n_spans, n_errors: trace.n_errors, is_cut: trace.is_cut,
    root: { span_id: root.span_id, service: root.service, operation: root.operation }, services: trace.services, n_matched: 1,
    matched: { span_id: root.span_id, service: root.service, operation: root.operation, start_ns: trace.start_ns, duration_ns: root.duration_ns, is_error: root.status === "error" },
  };
}

export function operationsOf(traces: readonly Trace[]): Operation[] {
  const groups = new Map<string, Span[]>();
  for (const span of traces.flatMap((trace) => trace.spans)) {
    const key = `${span.service}\0${span.operation}`;
    groups.set(key, [...(groups.get(key) ?? []), span]);
  }
  return [...groups.values()].map((spans) => {
    const durations = spans.map((one) => one.duration_ns).sort((a, b) => a - b);
    const at = (share: number) => durations[Math.min(durations.length - 1, Math.floor(share * durations.length))];
    return {
      service: spans[0].service, operation: spans[0].operation, n_spans: spans.length, n_errors: spans.filter((one) => one.status === "error").length,
      total_ns: durations.reduce((a, b) => a + b, 0), p50_ns: at(0.5), p95_ns: at(0.95), p99_ns: at(0.99), max_ns: at(1),
    };
  });
}
