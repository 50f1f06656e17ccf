// SPDX-License-Identifier: Apache-2.0
// Two selections of profiles against each other: in one sentence, as a flame graph of both, and function by function.

import { useMemo, useState } from "preact/hooks";
import { ApiError, apiUrl, type Query } from "../../api/client.ts";
import { diffCommand, diffCurl, diffQuery, getDiff, getDiffTree, type Diff, type Scale } from "../../api/diff.ts";
import { serverUrl } from "../../api/flame.ts";
import type { Series } from "../../api/series.ts";
import { Button, Empty, Failure, Loading, Segmented } from "../../components/basics.tsx";
import { ProfilePanel, type ProfileSource } from "../../components/panel/ProfilePanel.tsx";
import type { FlameTree } from "../../flame/tree.ts";
import { meanOf } from "../../lib/change.ts";
import { useKeys } from "../../lib/keys.ts";
import { shortPath } from "../../lib/path.ts";
import { useResource, type Resource } from "../../lib/resource.ts";
import { route, urlOf } from "../../lib/route.ts";
import { stackLayers } from "../../lib/series.ts";
import { Changes, patternOf } from "./Changes.tsx";
import { getCourse, Side } from "./Side.tsx";
import { SlowFast } from "./SlowFast.tsx";
import { isSlowFast, slowFastUrl } from "./slowFast.ts";
import { compareStateOf, presets, shiftOf, show, swapped, withSelection, withShift, type CompareState, type SideName } from "./state.ts";
import { Suggestions } from "./Suggestions.tsx";
import { measureOf, summaryOf } from "./summary.ts";
import { ValuesDialog } from "./Values.tsx";
import "./Compare.css";

interface Answer {
  diff: Diff;
  tree: FlameTree;
  query: Query; // as it was asked
  note: string; // why it was asked otherwise than wanted; "" if it was not
}

/** The table and the tree of both sides. Levels, such as memory in use, are not per time: they are compared as they are.
 * Profiles that do not say how long they took are compared by shares. */
async function getAnswer(query: Query, signal: AbortSignal, note = ""): Promise<Answer> {
  const isRate = query.scale === "durations";
  try {
    const [{ diff }, tree] = await Promise.all([getDiff(query, signal), getDiffTree(query, [], signal)]);
    if (diff.before.averaged && isRate && diff.factor !== 1) return await getAnswer({ ...query, scale: "none" }, signal);
    return { diff, tree, query, note };
  } catch (error) {
    const hasNoDuration = error instanceof ApiError && error.status === 400 && /\bhow long\b/.test(error.message);
    if (!isRate || !hasNoDuration) throw error;
    return getAnswer({ ...query, scale: "totals" }, signal, "Compared by shares, since a side does not say how long its profiles took.");
  }
}

/** Which side an error is about, with the sentence that is left. */
function sideOfError(error: unknown): { side: SideName; error: Error } | null {
  const found = error instanceof Error ? /^(--baseline|Before|--comparison|After): (.*)$/s.exec(error.message) : null;
  if (!found) return null;
  const side = found[1] === "--baseline" || found[1] === "Before" ? "before" : "after";
  const sentence = found[2].charAt(0).toUpperCase() + found[2].slice(1);
  return { side, error: error instanceof ApiError ? new ApiError(sentence, error.status, error.code, error.url) : new Error(sentence) };
}

const scales: { value: Scale; text: string; title: string }[] = [
  { value: "durations", text: "Per time", title: "As if both sides lasted equally long: compares rates, such as CPU per second." },
  { value: "totals", text: "Shares", title: "As if both sides came to the same total: compares shares." },
  { value: "none", text: "Absolute", title: "As they are." },
];

function sideUrl(state: CompareState, name: SideName, more: Record<string, string>): string {
  const { query, range } = state[name];
  return urlOf("explore", { query, from: range.from, until: range.until, ...more });
}

function sourceOf(state: CompareState, answer: Answer): ProfileSource {
  const zoom = (path: readonly string[]): Record<string, string> => (path.length > 0 ? { zoom: shortPath(path) } : {});
  return {
    kind: "diff",
    title: `${state.before.query} against ${state.after.query}`,
    focus: (path, signal) => getDiffTree(answer.query, path, signal),
    exportUrl: (format, path = []) => (format === "html" && path.length === 0 ? apiUrl("diff", { ...answer.query, format, "min-share": "0" }) : null),
    curl: () => diffCurl(answer.query),
    command: () => diffCommand(answer.query, serverUrl()),
    sides: { before: (path) => sideUrl(state, "before", zoom(path)), after: (path) => sideUrl(state, "after", zoom(path)) },
  };
}

/** A side without profiles, or one that is refused, need not be compared: it says so itself. What was known of it stands where
 * asking again failed. */
function hasProfiles(course: Resource<Series>): boolean {
  return course.value !== undefined && !course.isStale && course.value.groups.length > 0;
}

function Bar({ state }: { state: CompareState }) {
  const [isChoosing, setIsChoosing] = useState(false);
  const shift = String(shiftOf(state));
  return (
    <div class="row compare-bar">
      <Segmented
        label="What to compare with"
        value={shift}
        choices={presets.map(({ name, shiftMs }) => ({ value: String(shiftMs), text: name }))}
        onChange={(value) => show(withShift(state, Number(value)))}
      />
      <Button onClick={() => setIsChoosing(true)}>Two versions…</Button>
      <a class="button" href={slowFastUrl(state.after)} title="What the slowest spans of an operation do otherwise than the rest">Slow against fast</a>
      <Button title="What was before becomes after (x)" onClick={() => show(swapped(state))}>Swap</Button>
      <span class="spread" />
      <Segmented label="How values are compared" value={state.scale} choices={scales} onChange={(scale) => show({ ...state, scale })} />
      {isChoosing && <ValuesDialog state={state} onClose={() => setIsChoosing(false)} />}
    </div>
  );
}

/** The largest value of both sides, so that their timelines have one scale; 0 where their units differ. */
function topOf(courses: readonly (Series | undefined)[]): number {
  const known = courses.filter((one): one is Series => one !== undefined);
  if (known.some((one) => one.unit !== known[0].unit)) return 0;
  return known.reduce((top, one) => Math.max(top, ...stackLayers(one, 1).map((layer) => layer.max)), 0);
}

export function Compare() {
  return isSlowFast(route.value.params) ? <SlowFast /> : <Selections />;
}

function Selections() {
  const state = compareStateOf(route.value.params);
  const { before, after, scale } = state;
  const [version, setVersion] = useState(0);
  const key = JSON.stringify([before, after]);
  const nowMs = useMemo(() => Date.now(), [key, version]);
  const hasBoth = before.query !== "" && after.query !== "";
  const sideKey = (side: SideName) => (state[side].query === "" ? null : JSON.stringify(state[side]));
  const courses = {
    before: useResource(sideKey("before"), (signal) => getCourse(before, nowMs, signal), version),
    after: useResource(sideKey("after"), (signal) => getCourse(after, nowMs, signal), version),
  };
  const canCompare = hasBoth && hasProfiles(courses.before) && hasProfiles(courses.after);
  const answer = useResource(canCompare ? `${key} ${scale}` : null, async (signal) => getAnswer(diffQuery(before, after, scale, nowMs), signal), version);
  const isLacking = [courses.before, courses.after].some((one) => !one.isLoading && !hasProfiles(one));
  const failed = sideOfError(answer.error);
  const shown = answer.error === undefined || !answer.isStale ? answer.value : undefined;
  const course = courses.before.value;
  const cores = course && !courses.before.isStale && course.unit === "cores" && course.groups.length > 0 ? meanOf(course.groups[0].points) : null;
  const measure = shown ? measureOf(shown.diff, cores) : null;
  const source = useMemo(() => (shown ? sourceOf(state, shown) : null), [shown, key]);

  const askAgain = () => setVersion((n) => n + 1);
  useKeys([
    { keys: "x", group: "Compare", what: "Swap the sides", run: () => show(swapped(state)) },
    { keys: "r", group: "Compare", what: "Ask again", run: askAgain },
  ]);
  const top = topOf([courses.before.value, courses.after.value]);
  const sideOf = (name: SideName) => {
    const side = shown?.diff[name] ?? null;
    const scaled = side && shown ? side.total * (name === "after" ? shown.diff.factor : 1) : 0;
    return (
      <Side
        name={name}
        selection={state[name]}
        course={courses[name]}
        top={top}
        error={failed?.side === name ? failed.error : undefined}
        retry={askAgain}
        side={side}
        measured={measure && shown?.diff.scaling !== "equal totals" ? measure.format(scaled) : shown ? measureOf({ ...shown.diff, scaling: "not scaled" }, null).format(side!.total) : ""}
        onChange={(selection) => show(withSelection(state, name, selection))}
      />
    );
  };

  return (
    <div class="view">
      <h1 class="visually-hidden">Compare</h1>
      <div class="compare-sides">{sideOf("before")}{sideOf("after")}</div>
      {hasBoth && <Bar state={state} />}
      {!hasBoth && (
        <Empty title="What should be compared?">
          <p>Choose a service or write a query on the side after. The side before follows it, an hour earlier, until you choose otherwise there.</p>
          <Suggestions state={state} />
        </Empty>
      )}
      {hasBoth && !shown && answer.error === undefined && (courses.before.isLoading || courses.after.isLoading || answer.isLoading) && <Loading what="Comparing" />}
      {hasBoth && isLacking && (
        <Empty title="There is nothing to compare yet">
          <p>A side has no profiles. Choose another time or another query on that side.</p>
        </Empty>
      )}
      {answer.error !== undefined && !failed && <Failure error={answer.error} retry={askAgain} />}
      {shown && measure && source && (
        <div class={answer.isStale ? "stack compare-stale" : "stack"}>
          <div class="card compare-summary" role="status">
            <p>{summaryOf(shown.diff, cores)}</p>
            {shown.note && <p class="muted">{shown.note}</p>}
          </div>
          <ProfilePanel tree={shown.tree} source={source} height="clamp(24rem, 65vh, 48rem)" />
          <Changes
            diff={shown.diff}
            measure={measure}
            links={{ before: (name) => sideUrl(state, "before", { search: patternOf(name) }), after: (name) => sideUrl(state, "after", { search: patternOf(name) }) }}
          />
        </div>
      )}
    </div>
  );
}
