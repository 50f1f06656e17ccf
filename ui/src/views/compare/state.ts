// SPDX-License-Identifier: Apache-2.0
// The state of a comparison in the URL: `query`, `from`, `until` are the side after, `base`, `base-from`, `base-until` the side
// before. What is not given of the side before is as it is after, over the time that ended when that began (an hour before,
// where it is shorter).

import type { Scale, Selection } from "../../api/diff.ts";
import { navigate, type Params } from "../../lib/route.ts";
import { parseQuery, printQuery, withCondition } from "../../lib/query.ts";
import { defaultRange, resolveTime, shifted, type TimeRange } from "../../lib/time.ts";

export interface CompareState {
  before: Selection;
  after: Selection;
  scale: Scale;
}

export type SideName = "before" | "after";

const HOUR_MS = 3600e3;
export const presets: { name: string; shiftMs: number }[] = [
  { name: "Hour before", shiftMs: HOUR_MS },
  { name: "Day before", shiftMs: 24 * HOUR_MS },
  { name: "Week before", shiftMs: 7 * 24 * HOUR_MS },
];

/** Ranges are told apart from "now" by seconds; any moment will do for shifting them. */
const ANY_NOW_MS = 4e12;

function isScale(text: string | undefined): text is Scale {
  return text === "totals" || text === "none";
}

/** The range to compare with unless another is given. */
function earlierOf(range: TimeRange): TimeRange {
  const length = resolveTime(range.until, ANY_NOW_MS) - resolveTime(range.from, ANY_NOW_MS);
  return shifted(range, Math.max(HOUR_MS, length || 0), ANY_NOW_MS);
}

export function compareStateOf(params: ReadonlyMap<string, string>): CompareState {
  const query = params.get("query") ?? "";
  const range = { from: params.get("from") ?? defaultRange.from, until: params.get("until") ?? defaultRange.until };
  const earlier = earlierOf(range);
  const scale = params.get("scale");
  return {
    before: { query: params.get("base") ?? query, range: { from: params.get("base-from") ?? earlier.from, until: params.get("base-until") ?? earlier.until } },
    after: { query, range },
    scale: isScale(scale) ? scale : "durations",
  };
}

/** Parameters that say this state, the shortest way. */
export function compareParams(state: CompareState): Params {
  const { before, after, scale } = state;
  const earlier = earlierOf(after.range);
  const isDefault = after.range.from === defaultRange.from && after.range.until === defaultRange.until;
  return {
    query: after.query || null,
    from: isDefault ? null : after.range.from,
    until: isDefault ? null : after.range.until,
    base: before.query === after.query ? null : before.query,
    "base-from": before.range.from === earlier.from ? null : before.range.from,
    "base-until": before.range.until === earlier.until ? null : before.range.until,
    scale: scale === "durations" ? null : scale,
  };
}

export function show(state: CompareState): void {
  navigate({ params: compareParams(state) });
}

export function swapped({ before, after, scale }: CompareState): CompareState {
  return { before: after, after: before, scale };
}

/** The side before: the same query as after, so much earlier. */
export function withShift(state: CompareState, shiftMs: number): CompareState {
  return { ...state, before: { query: state.after.query, range: shifted(state.after.range, shiftMs, ANY_NOW_MS) } };
}

/** By how much the side before is earlier, where both have the same query and length; null otherwise. */
export function shiftOf({ before, after }: CompareState): number | null {
  if (before.query !== after.query) return null;
  const by = (end: keyof TimeRange) => Math.round((resolveTime(after.range[end], ANY_NOW_MS) - resolveTime(before.range[end], ANY_NOW_MS)) / 1000) * 1000;
  return by("from") === by("until") ? by("from") : null;
}

/** Another selection on one side. The side before follows the one after, query and time, as long as nobody chose it by itself;
 * a side that had no query takes that of the other. */
export function withSelection(state: CompareState, name: SideName, selection: Selection): CompareState {
  const { before, after } = state;
  if (name === "before") return { ...state, before: selection, after: after.query === "" ? { ...after, query: selection.query } : after };
  const query = before.query === after.query ? selection.query : before.query;
  const shift = shiftOf({ ...state, before: { ...before, query: after.query } });
  const isDefault = before.range.from === earlierOf(after.range).from && before.range.until === earlierOf(after.range).until;
  const range = isDefault ? earlierOf(selection.range) : shift === null ? before.range : shifted(selection.range, shift, ANY_NOW_MS);
  return { ...state, before: { query, range }, after: selection };
}

/** Two values of a label against each other, over the same time. */
export function withValues(state: CompareState, label: string, before: string, after: string): CompareState {
  const withValue = (value: string) => {
    const parts = parseQuery(state.after.query);
    return parts ? printQuery(withCondition(parts, { name: label, operator: "=", value })) : state.after.query;
  };
  const { range } = state.after;
  return { ...state, before: { query: withValue(before), range }, after: { query: withValue(after), range } };
}
