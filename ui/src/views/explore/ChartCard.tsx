// SPDX-License-Identifier: Apache-2.0
// The card above the flame graph: values over time in stacks, or how they are spread, with what was noted.

import { useMemo, useState } from "preact/hooks";
import { getLabels, getTypes } from "../../api/census.ts";
import { isCancelled, type Query } from "../../api/client.ts";
import { paramsOf } from "../../api/flame.ts";
import { getAnnotations, getHeatmap, getSeries, type Exemplar, type Heatmap, type Series } from "../../api/series.ts";
import { Button, Failure, Loading, Segmented } from "../../components/basics.tsx";
import { Combobox } from "../../components/Combobox.tsx";
import { HeatMap } from "../../components/HeatMap.tsx";
import { Timeline } from "../../components/Timeline.tsx";
import { parseQuery, selectorOf, shortType, targetOf } from "../../lib/query.ts";
import { useResource, type Resource } from "../../lib/resource.ts";
import { navigate } from "../../lib/route.ts";
import { kindOf, longerStep, remainderOf, stepOf } from "../../lib/series.ts";
import { resolveTime } from "../../lib/time.ts";
import { NoteDialog } from "./NoteDialog.tsx";
import { Strips } from "./Strips.tsx";
import { narrowTo, questionOf, setMoments, type Chart, type ExploreState } from "./state.ts";

const nPoints = 180;
const nColumns = 90; // of the heat map
const chartGroup = "explore"; // the timeline and the strips below it share a cursor
const nGroups = 40; // beyond these, groups are known by their sum alone

/** How much time a point covers, and where the first begins: on a whole step, so that points stay where they are in live mode. */
function gridOf(
  state: ExploreState,
  nowMs: number,
  least = 0,
  nMost = nPoints,
): { from: string; until: string; step: string } {
  const [from, until] = [resolveTime(state.range.from, nowMs), resolveTime(state.range.until, nowMs)];
  const step = Math.max(least, stepOf(until - from, nMost));
  return { from: String(Math.floor(from / 1000 / step) * step * 1000), until: state.range.until, step: `${step}s` };
}

/** Of queries whose profiles come seldom: how much time a point covers at least. */
const leastSteps = new Map<string, number>();

/** Of the query, but not of the single profile or span that was picked in it: one point is no chart, and others may be wanted. */
function chartParams(state: ExploreState): Query {
  return paramsOf(questionOf({ ...state, profileId: "", spanId: "" }));
}

async function loadSeries(state: ExploreState, nowMs: number, signal: AbortSignal): Promise<Series> {
  const parts = parseQuery(state.query);
  const { service, type } = parts ? targetOf(parts) : { service: "", type: "" };
  const needsTypes = !type.includes(":");
  const selector = service
    ? selectorOf({ front: "", conditions: [{ name: "service_name", operator: "=", value: service }] })
    : "";
  const types = needsTypes
    ? await getTypes(selector, state.range).catch((error: unknown) => (isCancelled(error) ? Promise.reject(error) : []))
    : [];
  const kind = kindOf(
    type,
    types.map((one) => one.type),
  );
  const ask = (least: number, by: string) =>
    getSeries({ ...chartParams(state), ...gridOf(state, nowMs, least), by, kind, top: nGroups }, signal);
  const least = leastSteps.get(state.query) ?? 0;
  let series = await ask(least, state.by);
  const longer = longerStep(series);
  if (longer !== null && longer > least) {
    leastSteps.set(state.query, longer);
    series = await ask(longer, state.by);
  }
  if (series.nLeftOut === 0) return series;
  return { ...series, remainder: remainderOf(await ask(leastSteps.get(state.query) ?? 0, ""), series.groups) };
}

async function loadHeatmap(state: ExploreState, nowMs: number, signal: AbortSignal): Promise<Heatmap> {
  return getHeatmap(
    { ...chartParams(state), ...gridOf(state, nowMs, 0, nColumns), kind: state.chart === "spans" ? "span" : "profile" },
    signal,
  );
}

export interface ChartData {
  series: Resource<Series>;
  heatmap: Resource<Heatmap>;
}

/** What the card shows; only the chart that is in sight is asked for. */
export function useChartData(state: ExploreState, nowMs: number, tick: number): ChartData {
  const isStack = state.chart === "stack";
  const key = JSON.stringify(chartParams(state));
  return {
    series: useResource(isStack ? `${key}|${state.by}` : null, (signal) => loadSeries(state, nowMs, signal), tick),
    heatmap: useResource(
      !isStack ? `${key}|${state.chart}` : null,
      (signal) => loadHeatmap(state, nowMs, signal),
      tick,
    ),
  };
}

function titleOf(query: string | undefined, kind: string | undefined): string {
  if (!query) return "Over time";
  const type = shortType(query.split("{")[0]);
  if (kind === "cores") return "CPU cores over time";
  return kind === "rate" ? `${type} per second over time` : `${type} over time`;
}

function showExemplar({ profileId, spanId }: Exemplar): void {
  navigate({ params: { "profile-id": spanId ? null : profileId, "span-id": spanId || null } });
}

const charts: { value: Chart; text: string; title: string }[] = [
  { value: "stack", text: "Stack", title: "Values over time, stacked by a label" },
  { value: "profiles", text: "Heat map", title: "How the values of single profiles are spread" },
  { value: "spans", text: "Spans", title: "How the values of single spans are spread" },
];

function StackChart({
  state,
  series,
  annotations,
  onAnnotate,
}: {
  state: ExploreState;
  series: Resource<Series>;
  annotations: Awaited<ReturnType<typeof getAnnotations>>;
  onAnnotate: (timeMs: number) => void;
}) {
  if (!series.value || (series.error && series.isStale))
    return series.error ? null : <Loading what="Loading the timeline" />;
  if (series.value.groups.length === 0) return <p class="chart-note muted">There is nothing in this time.</p>;
  return (
    <Timeline
      series={series.value}
      label={titleOf(series.value.query, series.value.kind)}
      group={chartGroup}
      annotations={annotations}
      onRange={setMoments}
      onPick={(labels) => narrowTo(state.query, labels)}
      onAnnotate={onAnnotate}
    />
  );
}

function SpreadChart({ heatmap }: { heatmap: Resource<Heatmap> }) {
  if (!heatmap.value || (heatmap.error && heatmap.isStale))
    return heatmap.error ? null : <Loading what="Loading the heat map" />;
  if (!heatmap.value.counts.some((column) => column.some((count) => count > 0))) {
    const what =
      heatmap.value.kind === "span"
        ? "No samples of this query say which span they belong to."
        : "There is nothing in this time.";
    return <p class="chart-note muted">{what}</p>;
  }
  const label =
    heatmap.value.kind === "span" ? "Values of single spans over time" : "Values of single profiles over time";
  return <HeatMap map={heatmap.value} label={label} onRange={setMoments} onExemplar={showExemplar} />;
}

export function ChartCard({
  state,
  data,
  nowMs,
  tick,
}: {
  state: ExploreState;
  data: ChartData;
  nowMs: number;
  tick: number;
}) {
  const [noteAt, setNoteAt] = useState<number | null>(null);
  const [nNoted, setNNoted] = useState(0);
  const parts = useMemo(() => parseQuery(state.query), [state.query]);
  const selector = parts ? selectorOf(parts) : "";
  const { service } = parts ? targetOf(parts) : { service: "" };
  const noteSelector = service
    ? selectorOf({ front: "", conditions: [{ name: "service_name", operator: "=", value: service }] })
    : "";
  const labels = useResource(`labels|${selector}|${state.range.from}|${state.range.until}`, () =>
    getLabels(selector, state.range),
  );
  const annotations = useResource(
    `notes|${noteSelector}|${state.range.from}|${state.range.until}`,
    (signal) => getAnnotations({ from: state.range.from, until: state.range.until, selector: noteSelector }, signal),
    tick + nNoted,
  );
  const isStack = state.chart === "stack";
  const shown = isStack ? data.series : data.heatmap;
  const choices = [
    { value: "", text: "Nothing: all as one" },
    ...(labels.value ?? []).filter((one) => !one.startsWith("__")).map((value) => ({ value })),
  ];

  return (
    <section class="card chart-card" aria-label="Over time" aria-busy={shown.isLoading}>
      <header>
        <h2 class="clip">
          {isStack ? titleOf(data.series.value?.query, data.series.value?.kind) : "How values are spread over time"}
        </h2>
        <span class="spread" />
        {isStack && (
          <label class="row chart-by">
            <span class="muted" aria-hidden="true">
              by
            </span>
            <Combobox
              label="Stacked by label"
              value={state.by}
              choices={choices}
              isLoading={labels.isLoading}
              placeholder="a label"
              onChange={(by) => navigate({ params: { by } })}
            />
          </label>
        )}
        <Segmented
          label="Chart"
          value={state.chart}
          choices={charts}
          onChange={(chart) => navigate({ params: { chart: chart === "stack" ? null : chart } })}
        />
        <Button
          kind="quiet"
          title="Note what happened, to be seen in all timelines of this service"
          onClick={() => setNoteAt(nowMs)}
        >
          + Note
        </Button>
      </header>
      <div class={shown.isStale && !shown.error ? "chart-body stale" : "chart-body"}>
        {shown.error !== undefined && <Failure error={shown.error} retry={shown.retry} />}
        {isStack ? (
          <StackChart state={state} series={data.series} annotations={annotations.value ?? []} onAnnotate={setNoteAt} />
        ) : (
          <SpreadChart heatmap={data.heatmap} />
        )}
      </div>
      <Strips service={service} grid={shown.value} group={chartGroup} onRange={setMoments} />
      {noteAt !== null && (
        <NoteDialog
          timeMs={noteAt}
          service={service}
          onClose={() => setNoteAt(null)}
          onDone={() => setNNoted(nNoted + 1)}
        />
      )}
    </section>
  );
}
