// SPDX-License-Identifier: Apache-2.0
// What there is to ask for: services, profile types, labels and their values, with the number of series of each. The server
// takes ranges of these to the day, so an answer is kept for a minute and asked for once however many parts want it.

import { resolveTime, type TimeRange } from "../lib/time.ts";
import { apiUrl, getJson, type Query } from "./client.ts";

export interface Counted {
  value: string;
  series: number | null; // null: a label of samples alone
}

const keptMs = 60_000;
const kept = new Map<string, { atMs: number; answer: Promise<unknown> }>();

/** The answer to a question that was asked within the last minute, or a new one. Failures are not kept. */
function once<T>(path: string, query: Query): Promise<T> {
  const key = apiUrl(path, query);
  const now = Date.now();
  for (const [old, { atMs }] of kept) if (now - atMs > keptMs) kept.delete(old);
  const found = kept.get(key);
  if (found) return found.answer as Promise<T>;
  const answer = getJson<T>(path, query).then(({ data }) => data);
  kept.set(key, { atMs: now, answer });
  answer.catch(() => kept.delete(key));
  return answer;
}

/** Asks anew from now on. */
export function forgetCensus(): void {
  kept.clear();
}

/** The days that a range touches, so that the question stays the same while time goes on. */
function daysOf(range: TimeRange): { from: string; until: string } | Record<string, never> {
  const now = Date.now();
  const [from, until] = [resolveTime(range.from, now), resolveTime(range.until, now)];
  if (Number.isNaN(from) || Number.isNaN(until)) return {};
  const day = 86400e3;
  const text = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { from: text(Math.floor(from / day) * day), until: text(Math.floor(until / day) * day + day) };
}

interface ValuesAnswer {
  values: { value: string; series: number; of_samples: boolean }[];
}

export async function getLabelValues(label: string, selector: string, range: TimeRange): Promise<Counted[]> {
  const { values } = await once<ValuesAnswer>("label-values", { label, selector, ...daysOf(range) });
  return values.map((one) => ({ value: one.value, series: one.of_samples ? null : one.series }));
}

export async function getServices(range: TimeRange): Promise<Counted[]> {
  return getLabelValues("service_name", "", range);
}

export async function getLabels(selector: string, range: TimeRange): Promise<string[]> {
  return (await once<{ labels: string[] }>("labels", { selector, ...daysOf(range) })).labels;
}

export interface CountedType {
  type: string;
  series: number;
}

export async function getTypes(selector: string, range: TimeRange): Promise<CountedType[]> {
  return (await once<{ types: CountedType[] }>("profile-types", { selector, brief: true, ...daysOf(range) })).types;
}

export interface DatedType extends CountedType {
  firstMs: number;
  lastMs: number;
}

/** All types of a selector at any time, with the time of their first and last profile. */
export async function getDatedTypes(selector: string, signal?: AbortSignal): Promise<DatedType[]> {
  const { data } = await getJson<{ types: (CountedType & { first_ns: number; last_ns: number })[] }>(
    "profile-types",
    { selector },
    signal,
  );
  return data.types.map((one) => ({
    type: one.type,
    series: one.series,
    firstMs: one.first_ns / 1e6,
    lastMs: one.last_ns / 1e6,
  }));
}
