// SPDX-License-Identifier: Apache-2.0
// What the address says about the search of traces.

import { pageRows, type Order, type TraceSearch } from "../../api/traces.ts";
import { parseQuery, printQuery } from "../../lib/query.ts";
import { navigate, type Params } from "../../lib/route.ts";
import { defaultRange, type TimeRange } from "../../lib/time.ts";

export interface SearchState extends TraceSearch {
  nRows: number;
}

type Pairs = readonly { name: string; value: string }[];

/** Attributes are written as conditions of queries are: {http.route="/cart", user="a"}. */
export function parseAttributes(text: string): Pairs {
  return (parseQuery(text)?.conditions ?? []).filter((one) => one.operator === "=");
}

export function printAttributes(pairs: Pairs): string | null {
  if (pairs.length === 0) return null;
  return printQuery({ front: "", conditions: pairs.map(({ name, value }) => ({ name, value, operator: "=" })) });
}

/** One more pair; another value of the same attribute takes its place. */
export function withAttribute(pairs: Pairs, name: string, value: string): Pairs {
  return [...pairs.filter((one) => one.name !== name), { name, value }];
}

/** "http.route=/cart" as people type it; null while there is no name or no equals sign. */
export function parsePair(text: string): { name: string; value: string } | null {
  const at = text.indexOf("=");
  if (at <= 0) return null;
  const name = text.slice(0, at).trim();
  const value = text.slice(at + 1).trim().replace(/^"(.*)"$/, "$1");
  return name ? { name, value } : null;
}

export function searchOf(params: ReadonlyMap<string, string>): SearchState {
  const get = (name: string) => params.get(name) ?? "";
  const order: Order = get("order") === "slowest" ? "slowest" : "newest";
  const nRows = Math.min(2000, Number(get("rows")) || 0);
  return {
    service: get("service"), operation: get("operation"), min: get("min"), max: get("max"), isError: get("errors") === "1",
    attributes: parseAttributes(get("attributes")), query: get("query"), function: get("function"),
    from: get("from") || defaultRange.from, until: get("until") || defaultRange.until, order, nRows: Math.max(pageRows, nRows),
  };
}

/** Whether anything but the time and the order is asked for. */
export function isNarrowed(state: SearchState): boolean {
  return Boolean(state.service || state.operation || state.min || state.max || state.isError || state.function || state.attributes.length > 0);
}

/** Whether it is about certain spans, so that it matters which one of a trace was found. */
export function asksForSpans(state: SearchState): boolean {
  return isNarrowed({ ...state, service: "" });
}

/** Changes the search; the list begins anew then. */
export function changeSearch(params: Params, how: "push" | "replace" = "push"): void {
  navigate({ params: { ...params, rows: null } }, how);
}

export function rangeParams(range: TimeRange): Params {
  const isDefault = range.from === defaultRange.from && range.until === defaultRange.until;
  return isDefault ? { from: null, until: null } : { from: range.from, until: range.until };
}

/** The times of a search that finds a trace again which began then: the default ones if it is recent, else half an hour around it. */
export function timesAround(startMs: number, nowMs: number): Params {
  const start = Math.floor(startMs);
  return nowMs - start < 3600e3 ? {} : { from: String(start - 1800e3), until: String(start + 1800e3) };
}

/** A duration as people write it; the same as the server reads. "" is any. */
export function isDuration(text: string): boolean {
  return text === "" || /^(\d+(\.\d+)?(ns|us|µs|ms|s|min|m|h|d|w))+$/.test(text);
}
