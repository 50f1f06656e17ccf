// SPDX-License-Identifier: Apache-2.0
// All services at a glance: CPU and memory of each over a range and over the same range a day before. However many services
// there are, one answer has at most MAX_SERVICES of them, the largest; a filter asks again.

import { quote } from "../lib/query.ts";
import { getTypes, type CountedType } from "./census.ts";
import { getJson } from "./client.ts";
import { getSeries, type SeriesGroup } from "./series.ts";

export const MAX_SERVICES = 300;
export const DAY_MS = 86400e3;
/** How long the list of names in one request may be, so that every proxy lets the address pass. */
const MAX_NAMES_CHARS = 3000;

export type Measure = "cpu" | "memory";

/** Points of both ranges of one measure of one service; null where the range has none. */
export interface Course {
  type: string;
  unit: string;
  before: (number | null)[] | null;
  after: (number | null)[] | null;
}

export interface FleetRow {
  service: string;
  cpu: Course | null;
  memory: Course | null;
  lastMs: number; // when the last step with a value begins; NaN if none has one
}

export interface FleetAnswer {
  rows: FleetRow[];
  nServices: number; // that match, shown or not
  nLeftOut: number;
  stepMs: number;
}

export interface FleetQuestion {
  fromMs: number;
  untilMs: number;
  filter: string; // a part of names
  isOpen: boolean; // the range goes on: its last point is not complete yet
}

/** Which types measure CPU time, or memory in use; those that most series have first. */
export function typesOf(types: readonly CountedType[], measure: Measure): string[] {
  const isMeant = ({ type }: CountedType): boolean => {
    const [, sample = "", unit = ""] = type.split(":");
    if (measure === "cpu") return (sample === "cpu" || sample === "itimer") && unit.endsWith("seconds");
    return /^(inuse_(space|bytes)|in_?use|live_?(bytes|space)|inuse)$/.test(sample) && unit.startsWith("byte");
  };
  return types
    .filter(isMeant)
    .sort((a, b) => b.series - a.series || (a.type < b.type ? -1 : 1))
    .slice(0, 3)
    .map((one) => one.type);
}

/** A pattern that matches just this text. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The query of one service and type, short where names allow it, else in full. */
export function queryOf(service: string, type: string): string {
  const sample = type.split(":")[1];
  const isShort = /^[A-Za-z][\w-]*$/.test(service) && (sample === "cpu" || sample === "inuse_space");
  return isShort ? `${service}.${sample}` : `${type}{service_name=${quote(service)}}`;
}

/** Steps of whole minutes, about thirty of them: senders report every minute at the latest, mostly. */
export function stepOf(rangeMs: number): number {
  const steps = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * 60e3);
  return steps.find((step) => rangeMs / step <= 40) ?? Math.ceil(rangeMs / 40 / DAY_MS) * DAY_MS;
}

/** Lists of names, none of them too long for an address. */
export function inChunks(names: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let room = 0;
  for (const name of names) {
    const chars = encodeURIComponent(literal(name)).length + 3;
    if (chunks.length === 0 || chars > room) {
      chunks.push([]);
      room = MAX_NAMES_CHARS;
    }
    chunks[chunks.length - 1].push(name);
    room -= chars;
  }
  return chunks;
}

type Groups = Map<string, (number | null)[]>;

function intoMap(groups: readonly SeriesGroup[], into: Groups): void {
  for (const group of groups) into.set(group.labels.service_name ?? "", group.points);
}

interface Asked {
  selector: string;
  type: string;
  fromMs: number;
  untilMs: number;
  stepMs: number;
}

async function ask(asked: Asked, signal: AbortSignal, top = MAX_SERVICES) {
  return getSeries(
    {
      query: asked.type + asked.selector,
      by: "service_name",
      kind: asked.type.includes(":bytes:") ? "sum" : "cores",
      from: Math.round(asked.fromMs),
      until: Math.round(asked.untilMs),
      step: `${asked.stepMs}ms`,
      top,
    },
    signal,
  );
}

/** Adds what `groups` lacks of these services: they were not among the largest then. */
async function fill(groups: Groups, names: readonly string[], asked: Asked, signal: AbortSignal): Promise<void> {
  const chunks = inChunks(names).slice(0, 8);
  const answers = await Promise.all(
    chunks.map((chunk) => ask({ ...asked, selector: `{service_name=~${quote(chunk.map(literal).join("|"))}}` }, signal, chunk.length)),
  );
  for (const answer of answers) intoMap(answer.groups, groups);
}

interface Both {
  type: string;
  unit: string;
  before: Groups;
  after: Groups;
  nLeftOut: number;
}

/** One type over both ranges, of the same services in both. */
async function bothRanges(asked: Asked, signal: AbortSignal): Promise<Both> {
  const earlier = { ...asked, fromMs: asked.fromMs - DAY_MS, untilMs: asked.untilMs - DAY_MS };
  const [now, then] = await Promise.all([ask(asked, signal), ask(earlier, signal)]);
  const after: Groups = new Map();
  const before: Groups = new Map();
  intoMap(now.groups, after);
  intoMap(then.groups, before);
  const lacks = (groups: Groups, others: Groups) => [...others.keys()].filter((name) => !groups.has(name));
  await Promise.all([
    then.nLeftOut > 0 ? fill(before, lacks(before, after), earlier, signal) : undefined,
    now.nLeftOut > 0 ? fill(after, lacks(after, before), asked, signal) : undefined,
  ]);
  return { type: asked.type, unit: now.unit, before, after, nLeftOut: now.nLeftOut };
}

/** The points without the last one, which is not complete while its time goes on; unless there is no other. */
export function complete(points: (number | null)[]): (number | null)[] {
  const others = points.slice(0, -1);
  return others.some((value) => value !== null) ? others : points;
}

/** When the last step of a service with a value begins, in any type; NaN if there is none. */
function lastOf(service: string, answers: readonly Both[], fromMs: number, stepMs: number): number {
  const last = Math.max(-1, ...answers.map(({ after }) => after.get(service)?.findLastIndex((value) => value !== null) ?? -1));
  return last < 0 ? NaN : fromMs + last * stepMs;
}

/** The course of a service in the first type that has it. */
function courseOf(service: string, answers: readonly Both[], isOpen: boolean): Course | null {
  const found = answers.find(({ after }) => after.has(service)) ?? answers.find(({ before }) => before.has(service));
  if (!found) return null;
  const cut = (points: (number | null)[] | undefined) => (points ? (isOpen ? complete(points) : points) : null);
  return { type: found.type, unit: found.unit, before: cut(found.before.get(service)), after: cut(found.after.get(service)) };
}

/** Names of services, of all times unless told; asked anew each time. */
export async function getServiceNames(query: { selector?: string; from?: number; until?: number }, signal?: AbortSignal): Promise<string[]> {
  const { data } = await getJson<{ values: { value: string }[] }>("label-values", { label: "service_name", ...query }, signal);
  return data.values.map((one) => one.value);
}

export async function getFleet(question: FleetQuestion, signal: AbortSignal): Promise<FleetAnswer> {
  const { fromMs, untilMs, filter, isOpen } = question;
  const selector = filter ? `{service_name=~${quote(`(?i).*${literal(filter)}.*`)}}` : "{}";
  const stepMs = stepOf(untilMs - fromMs);
  const [types, names] = await Promise.all([
    getTypes("", { from: String(Math.round(fromMs - DAY_MS)), until: String(Math.round(untilMs)) }),
    getServiceNames({ selector, from: Math.round(fromMs), until: Math.round(untilMs) }, signal),
  ]);
  const asked = (type: string): Asked => ({ selector, type, fromMs, untilMs, stepMs });
  const [cpu, memory] = await Promise.all(
    (["cpu", "memory"] as const).map((measure) => Promise.all(typesOf(types, measure).map((type) => bothRanges(asked(type), signal)))),
  );
  const shown = new Set<string>();
  for (const { before, after } of [...cpu, ...memory]) for (const name of [...after.keys(), ...before.keys()]) shown.add(name);
  for (const name of names) if (shown.size < MAX_SERVICES) shown.add(name);
  const nUnseen = names.filter((name) => !shown.has(name)).length;
  return {
    rows: [...shown].map((service) => ({
      service, cpu: courseOf(service, cpu, isOpen), memory: courseOf(service, memory, isOpen), lastMs: lastOf(service, [...cpu, ...memory], fromMs, stepMs),
    })),
    nServices: shown.size + nUnseen,
    nLeftOut: nUnseen,
    stepMs,
  };
}
