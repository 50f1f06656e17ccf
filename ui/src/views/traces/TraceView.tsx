// SPDX-License-Identifier: Apache-2.0
// One trace: its waterfall, what is known about the chosen span, and below the flame graph of what that span did.

import { useMemo } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import { getTrace, type Trace } from "../../api/traces.ts";
import { Button, copyText, Empty, Failure, Loading } from "../../components/basics.tsx";
import { formatDuration, formatNumber, formatTime, shortened } from "../../lib/format.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, route, urlOf } from "../../lib/route.ts";
import { meetServices } from "../../lib/services.ts";
import { zone } from "../../lib/theme.ts";
import { Details } from "./Details.tsx";
import { Overview } from "./Overview.tsx";
import { ErrorCount, Foreign, ServiceName } from "./parts.tsx";
import { closeFlame, SpanFlame } from "./SpanFlame.tsx";
import { criticalPath, treeOf, type SpanTree } from "./spans.ts";
import { timesAround } from "./state.ts";
import { Waterfall } from "./Waterfall.tsx";

const isTraceId = (text: string) => /^[0-9a-fA-F]{32}$/.test(text);

export function TraceView({ id }: { id: string }) {
  const trace = useResource(isTraceId(id) ? id : null, async (signal) => {
    const answer = await getTrace(id, signal);
    meetServices(answer.services.map((one) => one.name));
    return answer;
  });
  const isMissing = !isTraceId(id) || (trace.error instanceof ApiError && trace.error.status === 404);
  return (
    <div class="view">
      <nav class="row" aria-label="Back"><a href={backUrl(trace.value)}>← All traces</a></nav>
      {isMissing && <Missing id={id} error={trace.error} />}
      {!isMissing && trace.error !== undefined && <Failure error={trace.error} retry={trace.retry} />}
      {!trace.value && trace.isLoading && <Loading what="Loading the trace" />}
      {trace.value && <TraceOf trace={trace.value} onAgain={trace.retry} />}
    </div>
  );
}

/** The search, about the time of this trace. Back in the browser leads to the very search that found it. */
function backUrl(trace: Trace | undefined): string {
  return urlOf("traces", trace ? timesAround(trace.start_ns / 1e6, Date.now()) : {});
}

function Missing({ id, error }: { id: string; error: unknown }) {
  return (
    <Empty title={error instanceof Error ? "There is no such trace" : "This is no id of a trace"}>
      <p>{error instanceof Error ? error.message : `“${shortened(id, 80)}” is none: they have 32 hexadecimal digits.`}</p>
    </Empty>
  );
}

function Head({ trace, onAgain }: { trace: Trace; onAgain: () => void }) {
  const root = trace.spans[0];
  const copy = () => void copyText(trace.trace_id, "The trace id is");
  return (
    <header class="trace-head">
      <h1 class="trace-title">
        {root && <ServiceName name={root.service} />} <Foreign text={root?.operation || "(no name)"} max={160} />
      </h1>
      <div class="row trace-facts">
        <strong>{formatDuration(trace.duration_ns)}</strong>
        <span>{formatTime(trace.start_ns / 1e6, zone.value)}</span>
        <span>{formatNumber(trace.n_spans)} {trace.n_spans === 1 ? "span" : "spans"}</span>
        <ErrorCount n={trace.n_errors} />
        {trace.is_cut && <span class="chip warn">The first {formatNumber(trace.spans.length)} spans only</span>}
        <span class="spread" />
        <Button kind="quiet" title={`Copy the trace id ${trace.trace_id}`} onClick={copy}><span class="mono">{trace.trace_id.slice(0, 8)}…</span> Copy id</Button>
        {trace.link && /^https?:/i.test(trace.link) && <a class="button" href={trace.link} target="_blank" rel="noopener noreferrer">Open elsewhere ↗</a>}
        <Button label="Ask again" onClick={onAgain}>↻</Button>
      </div>
    </header>
  );
}

function selectSpan(tree: SpanTree, span: number): void {
  const id = span < 0 ? null : tree.spans[span].span_id;
  if (id === (route.peek().params.get("span") ?? null)) return;
  navigate({ params: { span: id, ...(id === null ? closeFlame : {}) } }, "replace");
}

function TraceOf({ trace, onAgain }: { trace: Trace; onAgain: () => void }) {
  const tree = useMemo(() => treeOf(trace), [trace]);
  const path = useMemo(() => criticalPath(tree), [tree]);
  const selected = tree.byId.get(route.value.params.get("span") ?? "") ?? -1;
  const select = (span: number) => selectSpan(tree, span);
  const hasFlame = selected >= 0 && route.value.params.has("flame");
  return (
    <>
      <Head trace={trace} onAgain={onAgain} />
      <div class={hasFlame ? "trace-parts short" : "trace-parts"}>
        <Waterfall tree={tree} path={path} selected={selected} isShort={hasFlame} onSelect={select} />
        {selected >= 0 ? (
          <Details trace={trace} tree={tree} span={selected} onSelect={select} />
        ) : (
          <Overview trace={trace} tree={tree} path={path} onSelect={select} />
        )}
      </div>
      {selected >= 0 && <SpanFlame trace={trace} tree={tree} span={selected} />}
    </>
  );
}
