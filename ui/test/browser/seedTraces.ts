// SPDX-License-Identifier: Apache-2.0
// Traces of the shop over the last hour, with profiles whose samples belong to their spans; and traces as nobody would wish them:
// of ten thousand spans, a thousand levels deep, without parents, and with names that mean harm.

import type { Hearth } from "./hearth.ts";
import { hostileNames } from "./hostile.ts";
import { tracesRequest, type SentSpan } from "./otlptraces.ts";
import { makePprof, type Frame, type Sample } from "./pprof.ts";
import { randomOf } from "./seed.ts";

const minute = 60e3;
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");
const traceId = (kind: number, n: number): string => `${hex(kind, 8)}${hex(n, 24)}`;
const spanId = (kind: number, n: number): string => `${hex(kind, 8)}${hex(n, 8)}`;

/** Ids of the traces that tests ask for by name. */
export const traceIds = {
  checkout: traceId(1, 10), big: traceId(2, 1), deep: traceId(3, 1), wide: traceId(4, 1), orphans: traceId(5, 1), hostile: traceId(6, 1),
};
export const bigSpans = 10000;
export const deepLevels = 1000;
export const nShopTraces = 120;
/** The span of the shop's trace number 10 that works: its id, and the functions that its own samples have. */
export const placed = { spanId: spanId(1, 1001), functions: ["checkout_place", "promotion_rules"], below: "load_cart" };

const stack = (...names: string[]): Frame[] => names.map((name) => ({ name, file: "src/checkout.cc", line: 10 }));

interface Made {
  spans: SentSpan[];
  samples: Sample[];
}

/** frontend POST /checkout > checkout Checkout/Place > (cart.load, payments Payments/Charge > ledger.append). */
function shopTrace(n: number, startMs: number, random: () => number): Made {
  const isSlow = n % 20 === 10;
  const work = (isSlow ? 600 : 60) * (0.8 + 0.4 * random());
  const failure = n % 15 === 5 ? "card declined" : undefined;
  const trace = traceId(1, n);
  const id = (k: number): string => spanId(1, n * 100 + k);
  const one = (k: number, parent: number | null, service: string, name: string, at: number, length: number, more: Partial<SentSpan> = {}): SentSpan => ({
    traceId: trace, spanId: id(k), ...(parent === null ? {} : { parentId: id(parent) }), service, name, startMs: startMs + at, durationMs: length, ...more,
  });
  const total = work + 60;
  const spans = [
    one(0, null, "frontend", "POST /checkout", 0, total, { kind: 2, attributes: { "http.route": "/checkout", "http.status_code": failure ? 500 : 200, customer: n % 2 ? "guest" : "member" }, ...(failure ? { error: failure } : {}) }),
    one(1, 0, "checkout", "Checkout/Place", 5, total - 10, { kind: 2, events: [{ atMs: startMs + 12, name: "cache miss" }] }),
    one(2, 1, "checkout", "cart.load", 8, 10),
    one(3, 1, "payments", "Payments/Charge", total - 40, 25, { kind: 2, attributes: { amount: 12.5 }, ...(failure ? { error: failure } : {}) }),
    one(4, 3, "payments", "ledger.append", total - 30, 10, { links: [{ traceId: traceId(1, 1), spanId: spanId(1, 100) }] }),
  ];
  const sample = (k: number, ms: number, ...names: string[]): Sample => ({ stack: stack(...names), values: [Math.max(1, Math.round(ms / 10)), Math.round(ms * 1e6)], labels: { span_id: id(k), trace_id: trace } });
  const samples = [
    sample(1, work * 0.05, "main", "serve", "checkout_place"),
    sample(1, work * 0.1, "main", "serve", "checkout_place", "price_cart", "round_money"),
    sample(1, work * 0.08, "main", "serve", "checkout_place", "write_answer", "json_string"),
    sample(1, work * 0.04, "main", "serve", "checkout_place", "write_answer"),
    sample(1, work * 0.12, "main", "serve", "checkout_place", "promotion_rules"),
    sample(1, work * 0.26, "main", "serve", "checkout_place", "promotion_rules", "match_rule", "regex_step"),
    sample(1, work * 0.1, "main", "serve", "checkout_place", "promotion_rules", "match_rule"),
    sample(2, 8, "main", "serve", "checkout_place", "load_cart"),
  ];
  return { spans, samples };
}

function* shop(nowMs: number): Generator<{ path: string; body: Uint8Array | string; type?: string }> {
  const random = randomOf(9);
  for (let age = 60; age >= 1; age--) {
    const startMs = nowMs - age * minute;
    const made = [0, 1].map((half) => shopTrace((60 - age) * 2 + half, startMs + 5000 + half * 20000, random));
    yield { path: "/v1/traces", type: "application/json", body: tracesRequest(made.flatMap((one) => one.spans)) };
    const body = makePprof({
      types: [["samples", "count"], ["cpu", "nanoseconds"]], samples: made.flatMap((one) => one.samples), timeMs: startMs, durationMs: minute,
      period: { type: "cpu", unit: "nanoseconds", value: 10e6 },
    });
    yield { path: `/ingest?name=checkout&from=${Math.round(startMs / 1000)}&until=${Math.round(startMs / 1000) + 60}&format=pprof&spyName=gospy`, body };
  }
}

/** Spans of one trace, the parent of each by its number; null for roots, a number that is not there for orphans. */
function traceOf(kind: number, startMs: number, n: number, parentOf: (i: number) => number | null, more: (i: number) => Partial<SentSpan>): SentSpan[] {
  return Array.from({ length: n }, (_, i) => {
    const parent = parentOf(i);
    return {
      traceId: traceId(kind, 1), spanId: spanId(kind, i + 1), ...(parent === null ? {} : { parentId: spanId(kind, parent + 1) }),
      service: `service-${i % 7}`, name: `step ${i % 40}`, attributes: { number: i }, startMs: startMs + i * 0.1, durationMs: (n - i) * 0.1 + 1, ...more(i),
    };
  });
}

function oddTraces(nowMs: number): SentSpan[][] {
  const at = nowMs - 10 * minute;
  const big = traceOf(2, at, bigSpans, (i) => (i === 0 ? null : Math.floor((i - 1) / 3)), (i) => (i % 500 === 499 ? { error: "broken" } : {}));
  const deep = traceOf(3, at, deepLevels, (i) => (i === 0 ? null : i - 1), () => ({ service: "deep" }));
  const wide = traceOf(4, at, 3000, (i) => (i === 0 ? null : 0), (i) => ({ service: "wide", durationMs: i === 0 ? 400 : 0.05 }));
  const orphans = traceOf(5, at, 20, (i) => (i % 5 === 0 ? 900 + i : i - 1), () => ({ service: "orphans" }));
  const hostile = traceOf(6, at, hostileNames.length + 1, (i) => (i === 0 ? null : 0), (i) => {
    const name = hostileNames[i - 1] ?? "hostile root";
    return { service: i === 0 ? "hostile" : name.slice(0, 100), name, error: name, attributes: { [name.slice(0, 50) || "empty"]: name }, events: [{ atMs: at + i, name }] };
  });
  return [big, deep, wide, orphans, hostile];
}

/** Fills `server`; the last trace began a minute before `nowMs`. */
export async function seedTraces(server: Hearth, nowMs: number): Promise<void> {
  await server.postAll(shop(nowMs));
  for (const spans of oddTraces(nowMs)) {
    for (let i = 0; i < spans.length; i += 2500) await server.post("/v1/traces", tracesRequest(spans.slice(i, i + 2500)), "application/json");
  }
}
