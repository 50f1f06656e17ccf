// SPDX-License-Identifier: Apache-2.0
// Explore: a query, a range of time, what it came to over time, and where it was spent.

import { useMemo, useState } from "preact/hooks";
import { forgetCensus } from "../../api/census.ts";
import { ApiError, type Message } from "../../api/client.ts";
import { commandOf, curlOf, exportUrl, getFlame, getLines, type Question } from "../../api/flame.ts";
import { Button, Empty, Failure, Loading } from "../../components/basics.tsx";
import { exactly } from "../../components/panel/patterns.ts";
import { ProfilePanel, type ProfileSource } from "../../components/panel/ProfilePanel.tsx";
import { QueryPicker } from "../../components/QueryPicker.tsx";
import { TimeRangePicker } from "../../components/TimeRangePicker.tsx";
import { shortened } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, route, urlOf } from "../../lib/route.ts";
import { complaintOf, defaultRange, stepped, zoomedOut } from "../../lib/time.ts";
import { ChartCard, useChartData } from "./ChartCard.tsx";
import { useFollowing } from "./live.ts";
import { Nothing } from "./Nothing.tsx";
import { Refused } from "./Refused.tsx";
import { Start } from "./Start.tsx";
import {
  hasSpans,
  narrowingsOf,
  questionOf,
  rangeParams,
  setLive,
  setQuery,
  setRange,
  stateOf,
  type ExploreState,
} from "./state.ts";
import "./Explore.css";

/** A refusal of the query itself: shown once, at the query. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 404);
}

function sourceOf(question: Question): ProfileSource {
  return {
    kind: "query",
    title: question.query,
    focus: async (path, signal) => (await getFlame(question, signal, path)).tree,
    exportUrl: (format, path) => exportUrl(question, format, path),
    curl: () => curlOf(question),
    command: () => commandOf(question),
    lines: (functionName, signal) => getLines(question, functionName, signal),
    filterBy: (functionName) => navigate({ params: { filter: exactly(functionName) } }),
    tracesUrl: (functionName) => {
      const { query, from, until, operation } = question;
      return urlOf("traces", { query, function: exactly(functionName), operation, order: "slowest", from, until });
    },
  };
}

/** What narrows the query beside its text, and what else can be asked of chosen spans. */
function Narrowings({ state }: { state: ExploreState }) {
  const all = narrowingsOf(state);
  if (all.length === 0) return null;
  const { query, range, operation } = state;
  return (
    <div class="row">
      <ul class="row narrowings" aria-label="Narrowed to">
        {all.map(({ value, text, params }) => (
          <li key={text} class="chip condition">
            <bdi class="clip mono" title={shortened(value, 2000)}>
              {shortened(text)}
            </bdi>
            <button
              type="button"
              aria-label={`Remove: ${shortened(text)}`}
              title="Remove"
              onClick={() => navigate({ params })}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      {hasSpans(state) && state.attribution === "" && (
        <Button
          kind="quiet"
          title="Count samples of the spans below, too, within the same service"
          onClick={() => navigate({ params: { attribution: "root" } })}
        >
          + Spans below
        </Button>
      )}
      {operation !== "" && (
        <a href={urlOf("compare", { query, operation, share: "5%", ...rangeParams(range), live: null })}>
          Slow against fast
        </a>
      )}
    </div>
  );
}

function Messages({ list }: { list: readonly Message[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="messages muted" aria-label="What the server says">
      {list.map(({ text }) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

export function Explore() {
  const state = stateOf(route.value);
  const complaint = complaintOf(state.range, Date.now());
  if (complaint === "" && state.query !== "") return <ExploreQuery state={state} />;
  return (
    <div class="view">
      <h1 class="visually-hidden">Explore</h1>
      <div class="explore-bar">
        <QueryPicker query={state.query} range={complaint ? defaultRange : state.range} onChange={setQuery} />
        <TimeRangePicker range={state.range} onChange={setRange} />
      </div>
      {complaint ? <WrongRange complaint={complaint} /> : <Start range={state.range} />}
    </div>
  );
}

function WrongRange({ complaint }: { complaint: string }) {
  return (
    <Empty title="This range of time cannot be shown">
      <div class="row">
        <p>{complaint}</p>
        <Button kind="main" onClick={() => setRange(defaultRange)}>
          Show the last hour
        </Button>
      </div>
    </Empty>
  );
}

function ExploreQuery({ state }: { state: ExploreState }) {
  const question = questionOf(state);
  const key = JSON.stringify(question);
  const source = useMemo(() => sourceOf(question), [key]);
  const [tick, setTick] = useState(0);
  const refresh = () => setTick((n) => n + 1);
  const refreshAll = () => {
    forgetCensus();
    refresh();
  };
  const nowMs = useMemo(() => Date.now(), [key, tick]);
  const flame = useResource(key, (signal) => getFlame(question, signal), tick);
  const chart = useChartData(state, nowMs, tick);
  const shown = state.chart === "stack" ? chart.series : chart.heatmap;
  useFollowing(state.isLive && !flame.isLoading && !shown.isLoading, tick, refresh);
  const refusal = [flame.error, shown.error].find(isRefusal);

  useKeys([
    { keys: "r", group: "Explore", what: "Ask again", run: refreshAll },
    {
      keys: "l",
      group: "Explore",
      what: "Follow now, or stop following",
      run: () => setLive(!state.isLive, state.range),
    },
    {
      keys: "[",
      group: "Explore",
      what: "Earlier by the length of the range",
      run: () => setRange(stepped(state.range, -1, Date.now())),
    },
    {
      keys: "]",
      group: "Explore",
      what: "Later by the length of the range",
      run: () => setRange(stepped(state.range, 1, Date.now())),
    },
    {
      keys: "-",
      group: "Explore",
      what: "Zoom out: twice the time",
      run: () => setRange(zoomedOut(state.range, Date.now())),
    },
    { keys: "Arrows", group: "Timeline", what: "Walk over points; with Shift, choose a range" },
    { keys: "Enter", group: "Timeline", what: "Show the chosen range" },
    { keys: "n", group: "Timeline", what: "Note what happened at this point" },
  ]);

  return (
    <div class="view">
      <h1 class="visually-hidden">Explore</h1>
      <div class="explore-bar">
        <QueryPicker query={state.query} range={state.range} onChange={setQuery} error={refusal} />
        <div class="row explore-time">
          <TimeRangePicker range={state.range} onChange={setRange} />
          <Button
            isPressed={state.isLive}
            title="Follow now: ask again every few seconds"
            onClick={() => setLive(!state.isLive, state.range)}
          >
            Live
          </Button>
          <Button label="Ask again" onClick={refreshAll}>
            ↻
          </Button>
          <a
            class="button"
            href={urlOf("compare", {
              query: state.query,
              from: route.value.params.get("from"),
              until: route.value.params.get("until"),
            })}
          >
            Compare
          </a>
        </div>
      </div>
      <Narrowings state={state} />
      {refusal !== undefined ? (
        <Refused range={state.range} />
      ) : (
        <>
          <Messages list={flame.value?.messages ?? shown.value?.messages ?? []} />
          <ChartCard state={state} data={chart} nowMs={nowMs} tick={tick} />
          <Flame question={question} flame={flame} source={source} />
        </>
      )}
    </div>
  );
}

/** What failed to be loaded again stays, below the failure: following now survives a server that is away for a moment. */
function Flame({
  question,
  flame,
  source,
}: {
  question: Question;
  flame: ReturnType<typeof useResource<Awaited<ReturnType<typeof getFlame>>>>;
  source: ProfileSource;
}) {
  const failure = flame.error !== undefined && (
    <section class="card">
      <Failure error={flame.error} retry={flame.retry} />
    </section>
  );
  if (!flame.value || (failure && flame.isStale))
    return (
      failure || (
        <section class="card">
          <Loading what="Loading the flame graph" />
        </section>
      )
    );
  const { tree } = flame.value;
  if (!flame.isStale && tree.totals[0] === 0 && tree.n <= 1)
    return (
      <section class="card">
        <Nothing question={question} />
      </section>
    );
  return (
    <>
      {failure}
      <div class={flame.isStale ? "explore-flame stale" : "explore-flame"} aria-busy={flame.isLoading}>
        <ProfilePanel tree={tree} source={source} />
      </div>
    </>
  );
}
