// SPDX-License-Identifier: Apache-2.0
// Writes the JSON of OpenTelemetry's export of traces, as tests need it.

export interface SentSpan {
  traceId: string;
  spanId: string;
  parentId?: string;
  service: string;
  name: string;
  startMs: number;
  durationMs: number;
  kind?: number; // 1 internal, 2 server, 3 client
  error?: string;
  attributes?: Record<string, string | number | boolean>;
  events?: { atMs: number; name: string }[];
  links?: { traceId: string; spanId: string }[];
}

type Value = string | number | boolean;

function attributesOf(pairs: Record<string, Value>): object[] {
  const valueOf = (value: Value): object => {
    if (typeof value === "string") return { stringValue: value };
    if (typeof value === "boolean") return { boolValue: value };
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  };
  return Object.entries(pairs).map(([key, value]) => ({ key, value: valueOf(value) }));
}

const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n);

function spanOf(span: SentSpan): object {
  return {
    traceId: span.traceId, spanId: span.spanId, parentSpanId: span.parentId ?? "", name: span.name, kind: span.kind ?? 1,
    startTimeUnixNano: nanoseconds(span.startMs), endTimeUnixNano: nanoseconds(span.startMs + span.durationMs),
    attributes: attributesOf(span.attributes ?? {}),
    events: (span.events ?? []).map(({ atMs, name }) => ({ timeUnixNano: nanoseconds(atMs), name })),
    links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: span.error === undefined ? {} : { code: 2, message: span.error },
  };
}

/** A request with all spans, those of a service together. */
export function tracesRequest(spans: readonly SentSpan[]): string {
  const services = [...new Set(spans.map((span) => span.service))];
  return JSON.stringify({
    resourceSpans: services.map((service) => ({
      resource: { attributes: attributesOf({ "service.name": service, "host.name": "machine-1" }) },
      scopeSpans: [{ scope: { name: "shop", version: "1.2.3" }, spans: spans.filter((span) => span.service === service).map(spanOf) }],
    })),
  });
}
