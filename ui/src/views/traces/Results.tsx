// SPDX-License-Identifier: Apache-2.0
// The traces that were found, one a row.

import type { FoundTrace } from "../../api/traces.ts";
import { useSize } from "../../components/basics.tsx";
import { VirtualTable, type Column } from "../../components/VirtualTable.tsx";
import { formatAgo, formatDuration, formatNumber, formatTime } from "../../lib/format.ts";
import { navigate, urlOf } from "../../lib/route.ts";
import { colourVariable } from "../../lib/services.ts";
import { zone } from "../../lib/theme.ts";
import { ErrorCount, Foreign, ServiceName } from "./parts.tsx";

const ROW_HEIGHT = 46;
const SHOWN_SERVICES = 3;

/** The span that made the trace be found, unless it is the root; null as well where any span would have done. */
function matchOf(trace: FoundTrace, asksForSpans: boolean): FoundTrace["matched"] | null {
  return asksForSpans && trace.matched.span_id !== trace.root.span_id ? trace.matched : null;
}

function Title({ trace, matched }: { trace: FoundTrace; matched: FoundTrace["matched"] | null }) {
  const { root } = trace;
  return (
    <span class="traces-title">
      <span class="clip">
        <a href={urlOf("traces", { span: matched?.span_id }, trace.trace_id)}><Foreign text={root.operation || "(no name)"} max={120} /></a>
      </span>
      <span class="clip muted traces-sub">
        <ServiceName name={root.service} />
        {matched && <span class="clip">› <Foreign text={matched.operation} max={80} /> {formatDuration(matched.duration_ns)}{trace.n_matched > 1 ? `, one of ${formatNumber(trace.n_matched)}` : ""}</span>}
      </span>
    </span>
  );
}

function Services({ trace }: { trace: FoundTrace }) {
  const more = trace.services.length - SHOWN_SERVICES;
  return (
    <span class="traces-services">
      {trace.services.slice(0, SHOWN_SERVICES).map((one) => (
        <span key={one.name} class="chip" title={`${one.name.slice(0, 200)}: ${formatNumber(one.n_spans)} spans`}>
          <ServiceName name={one.name} /> {formatNumber(one.n_spans)}
        </span>
      ))}
      {more > 0 && <span class="muted">+{more}</span>}
    </span>
  );
}

/** How long it took, as a number and as a share of the longest one in the list. */
function Duration({ trace, longestNs }: { trace: FoundTrace; longestNs: number }) {
  return (
    <span class="traces-bar">
      <span>{formatDuration(trace.duration_ns)}</span>
      <span class="traces-bar-ground" aria-hidden="true">
        <span style={{ width: `${longestNs > 0 ? (100 * trace.duration_ns) / longestNs : 0}%`, background: colourVariable(trace.root.service) }} />
      </span>
    </span>
  );
}

function columnsOf(width: number, longestNs: number, nowMs: number, asksForSpans: boolean): Column<FoundTrace>[] {
  const title: Column<FoundTrace> = { id: "title", title: "Trace", width: "minmax(10em, 1.4fr)", cell: (trace) => <Title trace={trace} matched={matchOf(trace, asksForSpans)} /> };
  const duration: Column<FoundTrace> = { id: "duration", title: "Duration", width: "minmax(7em, 0.7fr)", cell: (trace) => <Duration trace={trace} longestNs={longestNs} /> };
  const services: Column<FoundTrace> = { id: "services", title: "Services, with their spans", width: "minmax(12em, 1fr)", cell: (trace) => <Services trace={trace} /> };
  const spans: Column<FoundTrace> = { id: "spans", title: "Spans", isNumber: true, width: "4.5em", cell: (trace) => `${formatNumber(trace.n_spans)}${trace.is_cut ? "+" : ""}` };
  const errors: Column<FoundTrace> = { id: "errors", title: "Errors", width: "6.5em", cell: (trace) => <ErrorCount n={trace.n_errors} /> };
  const started: Column<FoundTrace> = {
    id: "started", title: "Started", width: "7em",
    cell: (trace) => <span title={formatTime(trace.start_ns / 1e6, zone.value)}>{formatAgo(trace.start_ns / 1e6, nowMs)}</span>,
  };
  if (width < 560) return [{ ...title, width: "minmax(7em, 1fr)" }, { ...duration, width: "6em" }];
  if (width < 900) return [title, duration, spans, errors, started];
  return [title, duration, services, spans, errors, started];
}

export function Results({ traces, nowMs, asksForSpans }: { traces: readonly FoundTrace[]; nowMs: number; asksForSpans: boolean }) {
  const [ref, { width }] = useSize<HTMLDivElement>();
  const longestNs = traces.reduce((longest, trace) => Math.max(longest, trace.duration_ns), 0);
  return (
    <div ref={ref} class="traces-table">
      {width > 0 && (
        <VirtualTable
          label="Traces"
          columns={columnsOf(width, longestNs, nowMs, asksForSpans)}
          rows={traces}
          keyOf={(trace) => trace.trace_id}
          rowHeight={ROW_HEIGHT}
          height={`min(${(traces.length + 1) * ROW_HEIGHT + 2}px, max(20em, calc(100vh - 340px)))`}
          onOpen={(trace) => navigate({ view: "traces", rest: trace.trace_id, params: { span: matchOf(trace, asksForSpans)?.span_id } })}
        />
      )}
    </div>
  );
}
