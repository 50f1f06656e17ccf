// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: its query, its time, its values over time, and what went wrong with it alone.

import { getTypes } from "../../api/census.ts";
import { ApiError } from "../../api/client.ts";
import type { DiffSide, Selection } from "../../api/diff.ts";
import { getSeries, type Series } from "../../api/series.ts";
import { Failure, Loading } from "../../components/basics.tsx";
import { QueryPicker } from "../../components/QueryPicker.tsx";
import { Timeline } from "../../components/Timeline.tsx";
import { TimeRangePicker } from "../../components/TimeRangePicker.tsx";
import { formatCount } from "../../lib/format.ts";
import { parseQuery, selectorOf, targetOf } from "../../lib/query.ts";
import type { Resource } from "../../lib/resource.ts";
import { urlOf } from "../../lib/route.ts";
import { kindOf, longerStep, stepOf } from "../../lib/series.ts";
import { resolveTime } from "../../lib/time.ts";
import type { SideName } from "./state.ts";

/** Values of a selection over time: CPU as cores. */
export async function getCourse({ query, range }: Selection, nowMs: number, signal: AbortSignal): Promise<Series> {
  const [from, until] = [resolveTime(range.from, nowMs), resolveTime(range.until, nowMs)];
  const parts = parseQuery(query);
  const { type } = parts ? targetOf(parts) : { type: "" };
  const types = parts && !type.includes(":") ? (await getTypes(selectorOf(parts), range)).map((one) => one.type) : [];
  const ask = (step: number) => getSeries({ query, kind: kindOf(type, types), from: Math.round(from), until: Math.round(until), step: `${step}s` }, signal);
  const series = await ask(stepOf(until - from, 60));
  const longer = longerStep(series); /* else cores would be too many: points between profiles have no value */
  return longer === null ? series : ask(longer);
}

function SideFacts({ side, measured }: { side: DiffSide; measured: string }) {
  const samples = side.samples === null ? "" : `, ${formatCount(side.samples)} samples`;
  return <p class="muted compare-facts">{measured}{side.averaged ? " on average" : ""}, {formatCount(side.profiles)} {side.profiles === 1 ? "profile" : "profiles"}{samples}</p>;
}

export function Side({ name, selection, course, top, error, retry, side, measured, onChange }: {
  name: SideName;
  selection: Selection;
  course: Resource<Series>;
  top: number; // of the axes of both sides
  error: unknown; // what the comparison says against this side
  retry: () => void;
  side: DiffSide | null;
  measured: string; // the total of this side as text
  onChange: (selection: Selection) => void;
}) {
  const title = name === "before" ? "Before" : "After";
  const series = course.value;
  const problem = course.error ?? error;
  const refusal = problem instanceof ApiError && (problem.status === 400 || problem.status === 404) ? problem : undefined;
  const isEmpty = series !== undefined && !course.isStale && problem === undefined && series.groups.length === 0;
  return (
    <section class={`card compare-side ${name}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <TimeRangePicker range={selection.range} label={`Time ${name}`} onChange={(range) => onChange({ ...selection, range })} />
        {selection.query && <a href={urlOf("explore", { query: selection.query, from: selection.range.from, until: selection.range.until })}>Explore this side</a>}
      </header>
      <div class="inside stack">
        <QueryPicker query={selection.query} range={selection.range} label={`Query ${name}`} error={refusal} onChange={(query) => onChange({ ...selection, query })} />
        {course.isLoading && !series && <Loading what="Asking for values over time" />}
        {problem !== undefined && refusal === undefined && <Failure error={problem} retry={retry} />}
        {isEmpty && (
          <div class="muted">
            <p>There are no profiles on this side.</p>
            {series.messages.map((message) => <p key={message.text}>{message.text}</p>)}
          </div>
        )}
        {series && series.groups.length > 0 && refusal === undefined && (
          <Timeline
            series={series}
            label={`Values over time ${name}`}
            height={64}
            top={top}
            onRange={(from, until) => onChange({ ...selection, range: { from: String(Math.round(from)), until: String(Math.round(until)) } })}
          />
        )}
        {side && <SideFacts side={side} measured={measured} />}
      </div>
    </section>
  );
}
