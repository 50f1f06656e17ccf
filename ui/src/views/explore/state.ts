// SPDX-License-Identifier: Apache-2.0
// What the address says about Explore, and what follows from it.

import type { Question } from "../../api/flame.ts";
import { parseQuery, printQuery, withCondition } from "../../lib/query.ts";
import { navigate, type Params, type Route } from "../../lib/route.ts";
import { defaultRange, isRelative, unpinned, type TimeRange } from "../../lib/time.ts";

export type Chart = "stack" | "profiles" | "spans";

export interface ExploreState {
  query: string;
  range: TimeRange;
  by: string; // label of the timeline's groups; "" = none
  chart: Chart;
  isLive: boolean;
  filter: string;
  spanId: string;
  traceId: string;
  profileId: string;
  operation: string; // of spans
  attribution: string; // "root" or ""
}

export function stateOf(route: Route): ExploreState {
  const get = (name: string) => route.params.get(name) ?? "";
  const chart = get("chart");
  const range = { from: get("from") || defaultRange.from, until: get("until") || defaultRange.until };
  return {
    query: get("query"),
    range,
    by: get("by"),
    chart: chart === "profiles" || chart === "spans" ? chart : "stack",
    isLive: get("live") === "1" && isRelative(range.until),
    filter: get("filter"),
    spanId: get("span-id"),
    traceId: get("trace-id"),
    profileId: get("profile-id"),
    operation: get("operation"),
    attribution: get("attribution") === "root" ? "root" : "",
  };
}

export function questionOf(state: ExploreState): Question {
  const { query, range, filter, spanId, traceId, profileId, operation } = state;
  const attribution = hasSpans(state) ? state.attribution : "";
  return { query, from: range.from, until: range.until, filter, spanId, traceId, profileId, operation, attribution };
}

/** Whether it is about samples of chosen spans: then it matters to which span a sample belongs. */
export function hasSpans({ spanId, operation }: Pick<ExploreState, "spanId" | "operation">): boolean {
  return spanId !== "" || operation !== "";
}

/** Single profiles and spans that were picked. */
const nonePicked: Params = { "span-id": null, "trace-id": null, "profile-id": null, operation: null, attribution: null };

/** Takes away all that narrows the query beside its text. */
export const unnarrowed: Params = { ...nonePicked, filter: null };

export interface Narrowing {
  value: string; // whole, where the text has its beginning
  text: string;
  params: Params; // without it
}

/** Ids are told apart by how they begin. */
function shortId(id: string): string {
  return id.length > 8 ? `${id.slice(0, 8)}…` : id;
}

/** What narrows the query beside its text. */
export function narrowingsOf(state: ExploreState): Narrowing[] {
  const { filter, spanId, traceId, profileId, operation } = state;
  const attribution = hasSpans(state) ? state.attribution : "";
  const all: Narrowing[] = [
    { value: filter, text: `with a function like ${filter}`, params: { filter: null } },
    { value: spanId, text: `span ${shortId(spanId)}`, params: { "span-id": null } },
    { value: traceId, text: `trace ${shortId(traceId)}`, params: { "trace-id": null } },
    { value: profileId, text: `profile ${shortId(profileId)}`, params: { "profile-id": null } },
    { value: operation, text: `operation ${operation}`, params: { operation: null } },
    { value: attribution, text: "and spans below", params: { attribution: null } },
  ];
  return all.filter(({ value }) => value !== "");
}

/** Ranges in the address: what is default is left out, and a range that does not end now is not followed. */
export function rangeParams(range: TimeRange): Params {
  const isDefault = range.from === defaultRange.from && range.until === defaultRange.until;
  return {
    from: isDefault ? null : range.from,
    until: range.until === defaultRange.until ? null : range.until,
    ...(range.until === "now" ? {} : { live: null }),
  };
}

export function setRange(range: TimeRange): void {
  navigate({ params: rangeParams(range) });
}

export function setMoments(fromMs: number, untilMs: number): void {
  setRange({ from: String(Math.floor(fromMs)), until: String(Math.ceil(untilMs)) });
}

/** A new query keeps the times; ids of single profiles and the panel's place belong to the old one. */
export function setQuery(query: string): void {
  navigate({
    params: {
      query,
      ...nonePicked,
      zoom: null,
      sel: null,
      focus: null,
      fn: null,
    },
  });
}

/** Only what has these labels. */
export function narrowTo(query: string, labels: Record<string, string>): void {
  let parts = parseQuery(query);
  if (!parts) return;
  for (const [name, value] of Object.entries(labels)) parts = withCondition(parts, { name, operator: "=", value });
  setQuery(printQuery(parts));
}

/** Following now needs a range that ends now: the same length of time. */
export function setLive(isLive: boolean, range: TimeRange): void {
  if (!isLive) return navigate({ params: { live: null } });
  navigate({
    params: {
      ...rangeParams(range.until === "now" && isRelative(range.from) ? range : unpinned(range, Date.now())),
      live: "1",
    },
  });
}
