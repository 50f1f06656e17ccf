// SPDX-License-Identifier: Apache-2.0
// What changed between two selections of profiles: /api/v1/diff, as a table with its uncertainty and as a tree of both sides.

import { decodeFlame } from "../flame/decode.ts";
import type { FlameTree } from "../flame/tree.ts";
import { resolveTime, type TimeRange } from "../lib/time.ts";
import { apiUrl, getBytes, getJson, type Message, type Query } from "./client.ts";
import { maxNodes, pathText, serverUrl, shellWord } from "./flame.ts";

/** What the values of the later side are multiplied by: what makes durations equal (compares rates), totals (compares
 * shares), or nothing. */
export type Scale = "durations" | "totals" | "none";

/** One side of a comparison. */
export interface Selection {
  query: string;
  range: TimeRange;
}

/** Whether a change is more than three standard errors. */
export type DiffVerdict = "significant" | "within noise" | "unknown";

/** The change of one value of a function; `after` and `delta` are scaled. */
export interface Delta {
  before: number;
  after: number;
  delta: number;
  share_before: number;
  share_after: number;
  percent: number | null; // null where there was nothing before
  error: number | null; // one standard error of `delta`; null where samples are unknown
  mark: "" | "new" | "gone";
  verdict: DiffVerdict;
}

export interface DiffFunction {
  name: string;
  self: Delta;
  total: Delta;
}

export interface DiffSide {
  query: string;
  from_ns: number;
  until_ns: number;
  averaged: boolean; // a level, like memory in use
  profiles: number;
  total: number; // not scaled
  duration_ns: number;
  samples: number | null;
  spans?: number; // that it is of, where slow spans are compared with fast ones
}

export interface Diff {
  type: string;
  unit: string;
  scaling: string;
  factor: number; // of the values of `after`
  before: DiffSide;
  after: DiffSide;
  functions: DiffFunction[]; // those that changed most first
  not_shown: number;
}

export const MAX_FUNCTIONS = 1000;

function endsOf(range: TimeRange, nowMs: number, side: string): [number, number] {
  const [from, until] = [resolveTime(range.from, nowMs), resolveTime(range.until, nowMs)];
  if (Number.isNaN(from) || Number.isNaN(until)) throw new Error(`${side}: “${Number.isNaN(from) ? range.from : range.until}” is no time; choose another.`);
  if (until - from < 1000) throw new Error(`${side}: the range ends before it has lasted a second; choose another.`);
  return [Math.round(from), Math.round(until)];
}

/** The parameters that both forms of the answer take. Relative times are meant from `nowMs` on, the same for both sides. */
export function diffQuery(before: Selection, after: Selection, scale: Scale, nowMs: number): Query {
  const [baseFrom, baseUntil] = endsOf(before.range, nowMs, "Before");
  const [from, until] = endsOf(after.range, nowMs, "After");
  return {
    baseline: before.query, comparison: after.query, scale,
    "baseline-from": baseFrom, "baseline-until": baseUntil, until, "time-range": `${until - from}ms`,
  };
}

export async function getDiff(query: Query, signal?: AbortSignal, call = "diff"): Promise<{ diff: Diff; messages: Message[] }> {
  const { data, messages } = await getJson<Diff>(call, { ...query, rows: MAX_FUNCTIONS }, signal);
  return { diff: data, messages };
}

/** The tree of both sides, or of the part below a path of calls. */
export async function getDiffTree(query: Query, path: readonly string[], signal?: AbortSignal, call = "diff"): Promise<FlameTree> {
  const { data } = await getBytes(call, treeQuery(query, path), signal);
  return decodeFlame(data);
}

function treeQuery(query: Query, path: readonly string[]): Query {
  return { ...query, format: "flame", "max-nodes": maxNodes, "min-share": "0", path: pathText(path) };
}

/** The same question for a terminal. */
export function diffCurl(query: Query): string {
  return `curl -g ${shellWord(`${serverUrl()}/${apiUrl("diff", query)}`)}`;
}

export function diffCommand(query: Query, server: string): string {
  const words = Object.entries(query).flatMap(([name, value]) => (value === null || value === undefined || value === "" ? [] : [`--${name}`, String(value)]));
  return ["hearth", "diff", ...words, "--url", server].map(shellWord).join(" ");
}
