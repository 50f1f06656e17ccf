// SPDX-License-Identifier: Apache-2.0
// The slowest spans of an operation against the rest: which functions they spend their time in.

import { useMemo, useState } from "preact/hooks";
import { ApiError, apiUrl } from "../../api/client.ts";
import type { Diff, DiffSide } from "../../api/diff.ts";
import { serverUrl } from "../../api/flame.ts";
import {
  getOperationsOf, getSlowFast, getSlowFastTree, slowFastCommand, slowFastCurl, slowFastQuery, type SlowFast as Answer, type SlowFastQuestion,
} from "../../api/slowfast.ts";
import { Button, Empty, Failure, Loading } from "../../components/basics.tsx";
import { Combobox } from "../../components/Combobox.tsx";
import { ProfilePanel, type ProfileSource } from "../../components/panel/ProfilePanel.tsx";
import { QueryPicker } from "../../components/QueryPicker.tsx";
import { TimeRangePicker } from "../../components/TimeRangePicker.tsx";
import { formatCount } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { parseQuery, targetOf } from "../../lib/query.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, route, urlOf } from "../../lib/route.ts";
import { Changes } from "./Changes.tsx";
import { parseShare, slowFastParams, slowFastStateOf, titlesOf } from "./slowFast.ts";
import { accountOf, measureOf, subjectOf, type Measure } from "./summary.ts";

const marks = { new: "which only they have", gone: "which they do not have" };
const shares = ["1%", "5%", "10%", "25%", "50%"].map((value) => ({ value, text: value.replace("%", " %") }));

function show(state: SlowFastQuestion): void {
  navigate({ params: slowFastParams(state) });
}

function exploreUrl({ query, range, operation, attribution }: SlowFastQuestion): string {
  return urlOf("explore", { query, from: range.from, until: range.until, operation, attribution });
}

function sourceOf(state: SlowFastQuestion, answer: Answer): ProfileSource {
  return {
    kind: "diff",
    title: `${state.operation} slow against fast`,
    focus: (path, signal) => getSlowFastTree(answer.query, path, signal),
    exportUrl: (format, path = []) => (format === "html" && path.length === 0 ? apiUrl("slow-fast", { ...answer.query, format, "min-share": "0" }) : null),
    curl: () => slowFastCurl(answer.query),
    command: () => slowFastCommand(answer.query, serverUrl()),
  };
}

/** Operation and share: what makes spans comparable, and how many of them are slow. */
function Choices({ state }: { state: SlowFastQuestion }) {
  const { query, range } = state;
  const parts = useMemo(() => parseQuery(query), [query]);
  const service = parts ? targetOf(parts).service : "";
  const operations = useResource(service ? `${service}|${range.from}|${range.until}` : null, (signal) => getOperationsOf(service, range, signal));
  const [wrongShare, setWrongShare] = useState("");
  const setShare = (text: string) => {
    const share = parseShare(text);
    setWrongShare(share === null ? text : "");
    if (share !== null) show({ ...state, share });
  };
  const choices = (operations.value ?? []).map(({ operation, n_spans }) => ({ value: operation, hint: formatCount(n_spans) }));
  return (
    <div class="row slow-fast-choices">
      <label class="row">
        <span class="muted" aria-hidden="true">Operation</span>
        <Combobox label="Operation" value={state.operation} choices={choices} isLoading={operations.isLoading} isFree placeholder="an operation"
          note={operations.error === undefined ? "This service has no spans in this time." : "Operations cannot be listed; type one."}
          onChange={(operation) => show({ ...state, operation })} />
      </label>
      <label class="row slow-fast-share">
        <span class="muted" aria-hidden="true">Slowest</span>
        <Combobox label="Share of the slowest spans" value={state.share} shown={state.share.replace("%", " %")} choices={shares} isFree onChange={setShare} />
      </label>
      <Button isPressed={state.attribution === "root"} title="Count samples of the spans below, too, within the same service"
        onClick={() => show({ ...state, attribution: state.attribution === "root" ? "" : "root" })}>
        Spans below
      </Button>
      <span class="spread" />
      {state.operation && <a href={exploreUrl(state)}>Explore this operation</a>}
      <a href={urlOf("compare", { query, from: route.value.params.get("from"), until: route.value.params.get("until") })}>Compare two times instead</a>
      {wrongShare && <p class="slow-fast-wrong" role="alert">“{wrongShare}” is no share. Write one from 0.01 to 90 %, like 5 %.</p>}
    </div>
  );
}

/** What a slow span costs, what another does, and which function makes the difference. */
function sentenceOf(diff: Diff, measure: Measure): string {
  const [slow, fast] = [diff.after.total * diff.factor, diff.before.total].map(measure.format);
  return `A slow span takes ${slow} of ${subjectOf(diff.type)}, another one ${fast}; ${accountOf(diff, measure, marks)}.`;
}

function SideCard({ name, title, side }: { name: "before" | "after"; title: string; side: DiffSide }) {
  const samples = side.samples === null ? "" : `, ${formatCount(side.samples)} ${side.samples === 1 ? "sample" : "samples"}`;
  return (
    <section class={`card compare-side ${name}`} aria-label={title}>
      <header><h2>{title}</h2></header>
      <p class="inside muted compare-facts">{side.spans === undefined ? "" : `${formatCount(side.spans)} ${side.spans === 1 ? "span" : "spans"}, `}{formatCount(side.profiles)} {side.profiles === 1 ? "profile" : "profiles"}{samples}</p>
    </section>
  );
}

export function SlowFast() {
  const state = slowFastStateOf(route.value.params);
  const [version, setVersion] = useState(0);
  const key = JSON.stringify(state);
  const isAsked = state.query !== "" && state.operation !== "";
  const answer = useResource(isAsked ? key : null, (signal) => getSlowFast(slowFastQuery(state, Date.now()), signal), version);
  const askAgain = () => setVersion((n) => n + 1);
  useKeys([{ keys: "r", group: "Compare", what: "Ask again", run: askAgain }]);
  const errorOf = (status: number) => (answer.error instanceof ApiError && answer.error.status === status ? answer.error : undefined);
  const [refusal, nothing] = [errorOf(400), errorOf(404)];
  const shown = answer.error === undefined || !answer.isStale ? answer.value : undefined;
  const source = useMemo(() => (shown ? sourceOf(state, shown) : null), [shown, key]);
  const titles = titlesOf(state.share);
  const measure = shown ? measureOf(shown.diff, null) : null;
  return (
    <div class="view">
      <h1 class="visually-hidden">Slow against fast</h1>
      <div class="slow-fast-bar">
        <QueryPicker query={state.query} range={state.range} error={refusal} onChange={(query) => show({ ...state, query })} />
        <TimeRangePicker range={state.range} onChange={(range) => show({ ...state, range })} />
      </div>
      <Choices state={state} />
      {!isAsked && (
        <Empty title="Which operation should be looked at?">
          <p>Choose a service that sends traces and profiles, and one of its operations. Its slowest spans are compared with the rest.</p>
        </Empty>
      )}
      {isAsked && !shown && answer.isLoading && <Loading what="Comparing" />}
      {nothing && (
        <Empty title="There is nothing to compare">
          <p>{nothing.message}</p>
          <p class="muted">Samples of both kinds of spans are needed: choose another operation or a longer time. Senders must link samples to spans.</p>
        </Empty>
      )}
      {answer.error !== undefined && !refusal && !nothing && <Failure error={answer.error} retry={askAgain} />}
      {shown && measure && source && (
        <div class={answer.isStale ? "stack compare-stale" : "stack"}>
          <div class="compare-sides">
            <SideCard name="before" title={titles.fast} side={shown.diff.before} />
            <SideCard name="after" title={titles.slow} side={shown.diff.after} />
          </div>
          <div class="card compare-summary" role="status">
            <p>{sentenceOf(shown.diff, measure)}</p>
            {shown.messages.map(({ text }) => <p key={text} class="muted">{text}</p>)}
          </div>
          <ProfilePanel tree={shown.tree} source={source} height="clamp(24rem, 65vh, 48rem)" />
          <Changes diff={shown.diff} measure={measure} sides={shown.tree.sides} />
        </div>
      )}
    </div>
  );
}
