// SPDX-License-Identifier: Apache-2.0
// Finding traces: by service, operation, duration, errors and attributes. Without an operation, all there are stand above the
// list: which one is slow?

import { useMemo, useRef } from "preact/hooks";
import { findTraces, getOperations, nothingFound, type Found } from "../../api/traces.ts";
import { Button, Empty, Failure, Loading, Segmented } from "../../components/basics.tsx";
import { TimeRangePicker } from "../../components/TimeRangePicker.tsx";
import { formatNumber } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, route } from "../../lib/route.ts";
import { meetServices } from "../../lib/services.ts";
import { complaintOf, defaultRange } from "../../lib/time.ts";
import { Filters } from "./Filters.tsx";
import { NoTraces } from "./NoTraces.tsx";
import { Operations } from "./Operations.tsx";
import { Results } from "./Results.tsx";
import { Scatter } from "./Scatter.tsx";
import { asksForSpans, changeSearch, isNarrowed, rangeParams, searchOf, type SearchState } from "./state.ts";

/** What is found, page after page: the pages that are there are not asked for again. */
function useFound(state: SearchState) {
  const { nRows, ...search } = state;
  const key = JSON.stringify(search);
  const kept = useRef<{ key: string; found: Found }>({ key: "", found: nothingFound });
  return useResource(`${key} ${nRows}`, async (signal) => {
    const isMore = kept.current.key === key && kept.current.found.traces.length < nRows && kept.current.found.nextPage !== null;
    const found = await findTraces(search, nRows, isMore ? kept.current.found : nothingFound, signal);
    kept.current = { key, found };
    meetServices(found.traces.flatMap((trace) => [trace.root.service, ...trace.services.map((one) => one.name)]));
    return { ...found, nowMs: Date.now(), key };
  });
}

function summaryOf(n: number, hasMore: boolean, state: SearchState): string {
  const count = `${formatNumber(n)}${hasMore ? " or more" : ""} ${n === 1 && !hasMore ? "trace" : "traces"}`;
  return `${count}, ${state.order === "slowest" ? "slowest" : "newest"} first.`;
}

export function Search() {
  const state = searchOf(route.value.params);
  const range = { from: state.from, until: state.until };
  const complaint = complaintOf(range, Date.now());
  return (
    <div class="view">
      <h1 class="visually-hidden">Traces</h1>
      {complaint ? (
        <>
          <TimeRangePicker range={range} onChange={(next) => changeSearch(rangeParams(next))} />
          <Empty title="This range of time cannot be shown">
            <p>{complaint}</p>
            <div><Button kind="main" onClick={() => changeSearch(rangeParams(defaultRange))}>Show the last hour</Button></div>
          </Empty>
        </>
      ) : (
        <SearchIn state={state} />
      )}
    </div>
  );
}

function SearchIn({ state }: { state: SearchState }) {
  const range = { from: state.from, until: state.until };
  const operations = useResource(`${state.from} ${state.until}`, async (signal) => {
    const answer = await getOperations(range, signal);
    meetServices(answer.operations.map((one) => one.service));
    return answer;
  });
  const found = useFound(state);
  const traces = found.value?.traces ?? [];
  const isEmpty = found.value !== undefined && !found.isStale && traces.length === 0;
  const askAgain = () => {
    operations.retry();
    found.retry();
  };
  useKeys([{ keys: "r", group: "Traces", what: "Ask again", run: askAgain }]);
  const showsOperations = !state.operation && !state.function && (operations.value?.operations.length ?? 0) > 0;
  const hasMore = (found.value?.nextPage ?? null) !== null;
  const order = useMemo(() => [{ value: "newest" as const, text: "Newest" }, { value: "slowest" as const, text: "Slowest" }], []);

  return (
    <>
      <Filters state={state} operations={operations.value?.operations ?? []} isLoading={operations.isLoading} onAgain={askAgain} />
      {operations.error !== undefined && found.error === undefined && <Failure error={operations.error} retry={operations.retry} />}
      {showsOperations && <Operations answer={operations.value!} state={state} />}
      {found.error !== undefined && <Failure error={found.error} retry={found.retry} />}
      {!found.value && found.isLoading && <Loading what="Looking for traces" />}
      {isEmpty && <NoTraces state={state} isNarrowed={isNarrowed(state)} />}
      {traces.length > 0 && (
        <section class={found.isStale ? "card stale" : "card"} aria-label="Traces that were found" aria-busy={found.isLoading}>
          <header>
            <p role="status">{summaryOf(traces.length, hasMore, state)}</p>
            <span class="spread" />
            <Segmented label="Order" value={state.order} choices={order} onChange={(next) => changeSearch({ order: next === "newest" ? null : next })} />
          </header>
          <Scatter traces={traces} />
          <Results traces={traces} nowMs={found.value!.nowMs} asksForSpans={asksForSpans(state)} />
          {hasMore && (
            <div class="traces-more">
              <Button disabled={found.isLoading} onClick={() => navigate({ params: { rows: String(traces.length + 50) } }, "replace")}>
                {found.isLoading ? "Looking for more…" : "Show more"}
              </Button>
            </div>
          )}
        </section>
      )}
      {(found.value?.messages ?? []).length > 0 && (
        <ul class="messages muted" aria-label="What the server says">{found.value!.messages.map(({ text }) => <li key={text}>{text}</li>)}</ul>
      )}
    </>
  );
}
