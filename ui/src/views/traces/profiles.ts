// SPDX-License-Identifier: Apache-2.0
// From spans to profiles: which types have samples of a span, and what to ask the server for.

import type { Question } from "../../api/flame.ts";
import type { Span, SpanSamples, Trace } from "../../api/traces.ts";
import { printQuery, shortType, withTarget } from "../../lib/query.ts";
import { urlOf } from "../../lib/route.ts";
import type { SpanTree } from "./spans.ts";

/** Samples of the span alone, of it and the spans below it within its service, or of all spans of its operation, which count what is below
 * them as well: many senders link samples to the innermost span alone. */
export const scopes = ["own", "root", "operation"] as const;
export type Scope = (typeof scopes)[number];

const isCpu = (type: string) => /^[^:]*:cpu:nanoseconds:/.test(type);

/** CPU first, then by how many samples there are. What only counts the samples of another type says nothing new, and is left
 * out. */
export function sortedSamples(samples: readonly SpanSamples[]): SpanSamples[] {
  const nameOf = (one: SpanSamples) => one.type.split(":")[0];
  const isCount = (one: SpanSamples) => /^[^:]*:samples:count:/.test(one.type);
  const isNew = (one: SpanSamples) => !isCount(one) || !samples.some((other) => other !== one && nameOf(other) === nameOf(one) && !isCount(other));
  return samples.filter(isNew).sort((a, b) => Number(isCpu(b.type)) - Number(isCpu(a.type)) || b.n_samples - a.n_samples);
}

/** Samples of all given spans, by type. */
function addedUp(spans: Iterable<Span>): SpanSamples[] {
  const sums = new Map<string, SpanSamples>();
  for (const span of spans) {
    for (const one of span.samples) {
      const sum = sums.get(one.type) ?? { ...one, n_samples: 0, value: 0 };
      sums.set(one.type, { ...sum, n_samples: sum.n_samples + one.n_samples, value: sum.value + one.value });
    }
  }
  return sortedSamples([...sums.values()]);
}

/** What there is to be shown of a span in a scope. Of an operation, what its service has in this trace: more may be elsewhere. */
export function samplesOf(tree: SpanTree, span: number, scope: Scope): SpanSamples[] {
  const one = tree.spans[span];
  if (scope === "own") return sortedSamples(one.samples);
  if (scope === "operation") return addedUp(tree.spans.filter((other) => other.service === one.service));
  return addedUp(tree.spans.slice(span, tree.end[span]).filter((other) => other.service === one.service));
}

/** What to show first of a span: its own samples, or where it has none those of the spans below. */
export function firstScope(tree: SpanTree, span: number): Scope {
  return samplesOf(tree, span, "own").length > 0 ? "own" : "root";
}

/* Profiles that have samples of a span began before it, some a while before; the server looks back as far. */
const BEFORE_MS = 15 * 60e3;
const AFTER_MS = 60e3;
const OPERATION_MARGIN_MS = 30 * 60e3;

/** The time to ask about, as milliseconds: that of the span or the trace, with what is around it. */
export function timesFor(trace: Trace, span: Span, scope: Scope): { from: string; until: string } {
  const startMs = (trace.start_ns + span.offset_ns) / 1e6;
  const [before, after] = scope === "operation" ? [OPERATION_MARGIN_MS, OPERATION_MARGIN_MS] : [BEFORE_MS, AFTER_MS];
  return { from: String(Math.floor(startMs - before)), until: String(Math.ceil(startMs + span.duration_ns / 1e6 + after)) };
}

/** A query of a service's profiles of a type; without a type the server chooses one. */
export function queryFor(service: string, type: string): string {
  return printQuery(withTarget({ front: "", conditions: [] }, { service, type }, type ? [type] : []));
}

export function questionFor(trace: Trace, span: Span, scope: Scope, type: string): Question {
  const isOperation = scope === "operation";
  return {
    query: queryFor(span.service, type), ...timesFor(trace, span, scope), filter: "", traceId: "", profileId: "",
    spanId: isOperation ? "" : span.span_id, operation: isOperation ? span.operation : "", attribution: scope === "own" ? "" : "root",
  };
}

/** The same in Explore. */
export function exploreUrl(question: Question): string {
  const { query, from, until, spanId, operation, attribution } = question;
  return urlOf("explore", { query, from, until, "span-id": spanId, operation, attribution });
}

/** The slowest twentieth of an operation's spans against the rest. */
export function slowFastUrl(trace: Trace, span: Span, type: string): string {
  return urlOf("compare", { query: queryFor(span.service, type), operation: span.operation, share: "5%", ...timesFor(trace, span, "operation") });
}

export function typeName(type: string): string {
  return isCpu(type) ? "CPU" : shortType(type).replaceAll("_", " ");
}
