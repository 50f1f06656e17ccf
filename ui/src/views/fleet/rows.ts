// SPDX-License-Identifier: Apache-2.0
// The rows of the fleet: what was measured of a service, what changed, and how its sources do; and their order.

import type { FleetRow } from "../../api/fleet.ts";
import type { Source } from "../../api/status.ts";
import { changeOf, worseRank, type Change } from "../../lib/change.ts";

/** What the sources of one service add up to since the server started. */
export interface Health {
  nSources: number;
  lastSeenMs: number;
  nDropped: number;
  dropped: [reason: string, n: number][]; // the largest first
  lastError: string;
  lastErrorMs: number;
}

export interface ServiceRow extends FleetRow {
  cpuChange: Change;
  memoryChange: Change;
  health: Health | null; // null: nothing came since the server started
  seenMs: number; // when the last profile came, as far as that is known; else NaN
}

export function healthOf(sources: readonly Source[]): Map<string, Health> {
  const found = new Map<string, Health>();
  const reasons = new Map<string, Map<string, number>>();
  for (const source of sources) {
    const health = found.get(source.service) ?? { nSources: 0, lastSeenMs: NaN, nDropped: 0, dropped: [], lastError: "", lastErrorMs: NaN };
    found.set(source.service, health);
    health.nSources++;
    health.lastSeenMs = later(health.lastSeenMs, source.last_seen);
    const errorMs = source.last_error_at ? Date.parse(source.last_error_at) : NaN;
    if (source.last_error && !(errorMs <= health.lastErrorMs)) {
      health.lastError = source.last_error;
      health.lastErrorMs = errorMs;
    }
    const counts = reasons.get(source.service) ?? new Map<string, number>();
    reasons.set(source.service, counts);
    for (const [reason, n] of Object.entries(source.dropped)) {
      health.nDropped += n;
      counts.set(reason, (counts.get(reason) ?? 0) + n);
    }
  }
  for (const [service, health] of found) health.dropped = [...reasons.get(service)!].sort((a, b) => b[1] - a[1]);
  return found;
}

function later(ms: number, time: string | null): number {
  const other = time ? Date.parse(time) : NaN;
  return Number.isNaN(ms) || other > ms ? other : ms;
}

export function rowsOf(rows: readonly FleetRow[], health: ReadonlyMap<string, Health>): ServiceRow[] {
  return rows.map((row) => ({
    ...row,
    cpuChange: changeOf(row.cpu?.before ?? null, row.cpu?.after ?? null, rows.length),
    memoryChange: changeOf(row.memory?.before ?? null, row.memory?.after ?? null, rows.length),
    health: health.get(row.service) ?? null,
    seenMs: health.get(row.service)?.lastSeenMs || row.lastMs,
  }));
}

export const sorts = {
  worse: "How surely it got worse",
  service: "Name",
  cpu: "CPU",
  "cpu-change": "Change of CPU",
  memory: "Memory",
  "memory-change": "Change of memory",
  seen: "Last seen",
} as const;
export type SortId = keyof typeof sorts;

export function isSortId(text: string): text is SortId {
  return text in sorts;
}

/** Names go up, everything else begins with the largest. */
export function isDescendingAtFirst(id: SortId): boolean {
  return id !== "service";
}

/* Verdicts first, then how much it is as a part of what it was: so that services of all sizes are seen. */
function worseOf(change: Change): [number, number] {
  return [worseRank(change.verdict), change.share ?? change.delta];
}

function compareWorse(a: Change, b: Change): number {
  const [x, y] = [worseOf(a), worseOf(b)];
  return x[0] - y[0] || x[1] - y[1];
}

function worst(row: ServiceRow): Change {
  return compareWorse(row.cpuChange, row.memoryChange) >= 0 ? row.cpuChange : row.memoryChange;
}

const low = (value: number | null | undefined) => (value === null || value === undefined || Number.isNaN(value) ? -Infinity : value);

function compare(id: SortId, a: ServiceRow, b: ServiceRow): number {
  const size = (x: number, y: number) => (x === y ? 0 : x - y);
  if (id === "service") return a.service < b.service ? -1 : a.service > b.service ? 1 : 0;
  if (id === "worse") return compareWorse(worst(a), worst(b));
  if (id === "cpu") return size(low(a.cpuChange.after), low(b.cpuChange.after));
  if (id === "memory") return size(low(a.memoryChange.after), low(b.memoryChange.after));
  if (id === "cpu-change") return compareWorse(a.cpuChange, b.cpuChange);
  if (id === "memory-change") return compareWorse(a.memoryChange, b.memoryChange);
  return size(low(a.seenMs), low(b.seenMs));
}

/** A sorted copy; services that are alike go by what they use, then by name. */
export function sorted(rows: readonly ServiceRow[], id: SortId, isDescending: boolean): ServiceRow[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(id, a, b) || compare("cpu", b, a) || compare("service", a, b));
}
