// SPDX-License-Identifier: Apache-2.0
// What comes per second, from two looks at counters that only ever rise.

import type { Source } from "../../api/status.ts";

/** What the counters of all sources were at a time. */
export interface Look {
  atMs: number;
  started: string; // of the server: counters begin again with it
  counters: ReadonlyMap<string, Rates>; // by key of the source
}

export interface Rates {
  uploads: number;
  stored: number;
  samples: number;
  bytes: number;
  dropped: number;
}

export function keyOf(source: Source): string {
  return JSON.stringify([source.tenant, source.service, source.sender]);
}

export function droppedOf(source: Source): number {
  return Object.values(source.dropped).reduce((sum, n) => sum + n, 0);
}

const countersOf = (source: Source): Rates => ({
  uploads: source.uploads, stored: source.stored, samples: source.samples, bytes: source.bytes, dropped: droppedOf(source),
});

const nothing: Rates = { uploads: 0, stored: 0, samples: 0, bytes: 0, dropped: 0 };

export function lookOf(atMs: number, started: string, sources: readonly Source[]): Look {
  return { atMs, started, counters: new Map(sources.map((source) => [keyOf(source), countersOf(source)])) };
}

/** Rates are taken over this time at least, once it has passed: senders report every 10 or 15 seconds. */
const SPAN_MS = 30e3;

/** Looks to be kept beside a new one: the latest that is old enough, and all behind it. */
export function withLook(looks: readonly Look[], next: Look): Look[] {
  const all = [...looks.filter((look) => look.started === next.started), next];
  const first = all.findLastIndex((look) => next.atMs - look.atMs >= SPAN_MS);
  return all.slice(Math.max(0, first));
}

export interface AllRates {
  all: Rates;
  each: Map<string, Rates>;
}

/** Per second from the first look to the last, of each source and of all; null while there is one look alone. A source that is
 * new in the last look began at 0. */
export function ratesOf(looks: readonly Look[]): AllRates | null {
  const before = looks[0];
  const after = looks[looks.length - 1];
  if (!before || after.atMs <= before.atMs) return null;
  const seconds = (after.atMs - before.atMs) / 1000;
  const each = new Map<string, Rates>();
  const all = { ...nothing };
  for (const [key, is] of after.counters) {
    const was = before.counters.get(key) ?? nothing;
    const rates = { ...nothing };
    for (const name of Object.keys(nothing) as (keyof Rates)[]) {
      rates[name] = Math.max(0, is[name] - was[name]) / seconds;
      all[name] += rates[name];
    }
    each.set(key, rates);
  }
  return { all, each };
}
