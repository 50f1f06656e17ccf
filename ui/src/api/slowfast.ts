// SPDX-License-Identifier: Apache-2.0
// What the slowest spans of an operation do otherwise than the rest: /api/v1/slow-fast, which answers as /api/v1/diff does.

import type { FlameTree } from "../flame/tree.ts";
import { resolveTime } from "../lib/time.ts";
import { apiUrl, getJson, type Message, type Query } from "./client.ts";
import { getDiff, getDiffTree, type Diff, type Selection } from "./diff.ts";
import { serverUrl, shellWord } from "./flame.ts";

export interface SlowFastQuestion extends Selection {
  operation: string;
  share: string; // of the spans: 5%
  attribution: string; // "root" or ""
}

/** The server compares what a span costs. Relative times are meant from `nowMs` on, the same for the table and the tree. */
export function slowFastQuery({ query, range, operation, share, attribution }: SlowFastQuestion, nowMs: number): Query {
  const at = (text: string) => Math.round(resolveTime(text, nowMs));
  return { query, operation, share, attribution, from: at(range.from), until: at(range.until) };
}

export interface SlowFast {
  diff: Diff;
  tree: FlameTree;
  query: Query;
  messages: Message[];
}

export async function getSlowFast(query: Query, signal: AbortSignal): Promise<SlowFast> {
  const [{ diff, messages }, tree] = await Promise.all([getDiff(query, signal, "slow-fast"), getSlowFastTree(query, [], signal)]);
  return { diff, tree, query, messages };
}

export async function getSlowFastTree(query: Query, path: readonly string[], signal: AbortSignal): Promise<FlameTree> {
  return { ...(await getDiffTree(query, path, signal, "slow-fast")), sides: ["fast", "slow"] };
}

export function slowFastCurl(query: Query): string {
  return `curl -g ${shellWord(`${serverUrl()}/${apiUrl("slow-fast", query)}`)}`;
}

export function slowFastCommand({ query, ...options }: Query, server: string): string {
  const words = Object.entries(options).flatMap(([name, value]) => (value ? [`--${name}`, String(value)] : []));
  return ["hearth", "slow-fast", String(query), ...words, "--url", server].map(shellWord).join(" ");
}

export interface OperationCount {
  operation: string;
  n_spans: number;
}

/** The operations of a service, those with most spans first. */
export async function getOperationsOf(service: string, range: { from: string; until: string }, signal: AbortSignal): Promise<OperationCount[]> {
  const { data } = await getJson<{ operations: OperationCount[] }>("operations", { service, ...range }, signal);
  return data.operations.sort((a, b) => b.n_spans - a.n_spans);
}
