// SPDX-License-Identifier: Apache-2.0
// What is worth a look in a profile, one sentence each. A hint must hold beyond what sampling alone would do: profiles with
// few samples get none, and shares count less two standard errors.

import { formatCount, formatShare, formatValue } from "../lib/format.ts";
import { sortRows, type FunctionRow } from "./aggregate.ts";
import { changeInErrors, SIGNIFICANT, standardError } from "./chance.ts";
import { isRuntimeWork, type RuntimeWork } from "./runtimes.ts";
import { MAX_PATTERN, MAX_TESTED } from "./search.ts";
import { functionsOf, isOther, parentsOf } from "./structure.ts";
import { nameOf, parentOf, pathOf, type FlameTree } from "./tree.ts";

export interface Hint {
  kind: "leaf" | "deep" | "shared" | "garbage" | "locks" | "allocation" | "cut" | "nameless" | "change";
  text: string;
  share: number; // of all, to sort by
  node: number; // the frame to select
  show: "flame" | "sandwich"; // where to look at it
  search?: string; // what to search for, where more than one function is meant
}

export const MIN_SAMPLES = 100;
const WIDE_LEAF = 0.1;
const SHARED_LEAF = 0.05;
const SHARED_CALLERS = 8;
const DEEP_LEVELS = 100;
const DEEP_SHARE = 0.01;
const RUNTIME_SHARES: Record<RuntimeWork, number> = { garbage: 0.1, locks: 0.05, allocation: 0.1 };

/** Hints about a profile, the weightiest first. `rows` are those of functionRows(). */
export function hintsOf(tree: FlameTree, rows: readonly FunctionRow[]): Hint[] {
  const total = Math.abs(tree.totals[0]);
  if (total === 0 || tree.isSigned || hasFewSamples(tree)) return [];
  if (tree.before) return changes(tree, rows);
  const parents = parentsOf(tree);
  const hints = [
    ...wideLeaves(tree, rows, total),
    ...sharedLeaves(tree, rows, parents, total),
    ...deepStacks(tree),
    ...runtimeWork(tree, parents, total),
    ...cutAndNameless(tree, rows, total),
  ];
  return hints.sort((a, b) => b.share - a.share);
}

/** Whether there are too few samples for anything to be said; where they are unknown, a handful of frames says as little. */
export function hasFewSamples(tree: FlameTree): boolean {
  const known = tree.samples.filter((count) => count !== null);
  if (known.length < tree.samples.length || known.length === 0) return tree.n < 20;
  return known.some((count) => count < MIN_SAMPLES);
}

/** The share of all less two standard errors. */
function sureShare(tree: FlameTree, value: number, total: number): number {
  return (value - 2 * (standardError(tree, value) ?? 0)) / total;
}

const shownName = (name: string) => (name.length > 120 ? `${name.slice(0, 119)}…` : name);

function wideLeaves(tree: FlameTree, rows: readonly FunctionRow[], total: number): Hint[] {
  const wide = rows.filter((row) => !row.isOther && !isNameless(row.text) && sureShare(tree, row.self, total) >= WIDE_LEAF);
  return sortRows(tree, wide, "self", true).slice(0, 3).map((row) => ({
    kind: "leaf", share: row.self / total, node: row.widest, show: "flame",
    text: `${shownName(row.text)} itself takes ${formatShare(row.self / total)} of all (${formatValue(row.self, tree.unit)}), not counting what it calls.`,
  }));
}

/** Functions that cost much themselves, spread over many callers none of which accounts for most of it. */
function sharedLeaves(tree: FlameTree, rows: readonly FunctionRow[], parents: Int32Array, total: number): Hint[] {
  const heavy = rows.filter((row) => !row.isOther && !isNameless(row.text) && sureShare(tree, row.self, total) >= SHARED_LEAF);
  const callers = new Map(heavy.map((row) => [row.name, new Map<number, number>()]));
  if (callers.size === 0) return [];
  const functions = functionsOf(tree.names);
  for (let i = 1; i < tree.n; i++) {
    const of = callers.get(functions[tree.name[i]]);
    if (!of) continue;
    const caller = functions[tree.name[parents[i]]];
    of.set(caller, (of.get(caller) ?? 0) + tree.width[i]);
  }
  return heavy.flatMap((row): Hint[] => {
    const values = [...callers.get(row.name)!.values()];
    const sum = values.reduce((a, b) => a + b, 0);
    if (values.length < SHARED_CALLERS || Math.max(...values) > sum / 2) return [];
    return [{
      kind: "shared", share: row.self / total, node: row.widest, show: "sandwich",
      text: `${shownName(row.text)} takes ${formatShare(row.self / total)} itself and is called by ${formatCount(values.length)} functions, none of which accounts for most of it: making it cheaper helps them all.`,
    }];
  });
}

function deepStacks(tree: FlameTree): Hint[] {
  if (tree.depth <= DEEP_LEVELS) return [];
  let deep = 0;
  let widest = tree.levelStart[DEEP_LEVELS];
  for (let i = widest; i < tree.levelStart[DEEP_LEVELS + 1]; i++) {
    deep += tree.width[i];
    if (tree.width[i] > tree.width[widest]) widest = i;
  }
  const total = tree.width[0];
  if (sureShare(tree, deep * tree.divisor, total * tree.divisor) < DEEP_SHARE) return [];
  const counts = new Map<string, number>();
  for (const node of pathOf(tree, widest)) counts.set(nameOf(tree, node), (counts.get(nameOf(tree, node)) ?? 0) + 1);
  const [name, count] = [...counts].reduce((best, one) => (one[1] > best[1] ? one : best));
  const why = count > 10 ? ` ${shownName(name)} is ${count} times in one of them: collapse recursion to see what it does.` : "";
  return [{
    kind: "deep", share: deep / total, node: widest, show: "flame",
    text: `${formatShare(deep / total)} is more than ${DEEP_LEVELS} calls deep, at most ${tree.depth - 1}.${why}`,
  }];
}

const sentences: Record<RuntimeWork, (share: string, names: string) => string> = {
  garbage: (share, names) => `Collecting garbage takes ${share} (${names}): fewer or shorter-lived objects would help.`,
  locks: (share, names) => `Taking locks or waiting for them takes ${share} (${names}).`,
  allocation: (share, names) => `Allocating and freeing memory takes ${share} (${names}): using buffers again would help.`,
};

/** The value of the outermost frames that match, without counting anything twice, and the heaviest of them by function. */
function workOf(tree: FlameTree, parents: Int32Array, isHit: (name: string) => boolean) {
  const hits = Uint8Array.from(tree.names, (name) => (isHit(name) ? 1 : 0));
  const functions = new Map<number, number>();
  let sum = 0;
  let widest = -1;
  if (!hits.includes(1)) return { sum, widest, names: [] as string[] };
  const covered = new Uint8Array(tree.n);
  for (let i = 1; i < tree.n; i++) {
    const isCovered = covered[parents[i]] === 1;
    const hit = hits[tree.name[i]] === 1 && !isOther(tree, i);
    covered[i] = isCovered || hit ? 1 : 0;
    if (isCovered || !hit) continue;
    sum += tree.width[i];
    functions.set(tree.name[i], (functions.get(tree.name[i]) ?? 0) + tree.width[i]);
    if (widest < 0 || tree.width[i] > tree.width[widest]) widest = i;
  }
  const names = [...functions].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name]) => tree.names[name]);
  return { sum: sum * tree.divisor, widest, names };
}

function runtimeWork(tree: FlameTree, parents: Int32Array, total: number): Hint[] {
  /* In profiles of memory everything is allocation. */
  if (tree.unit === "bytes" || tree.unit === "objects") return [];
  return (Object.keys(sentences) as RuntimeWork[]).flatMap((work): Hint[] => {
    const { sum, widest, names } = workOf(tree, parents, (name) => isRuntimeWork(work, name));
    /* Nearly everything: that is what was profiled, not news. */
    if (widest < 0 || sum > total * 0.95 || sureShare(tree, sum, total) < RUNTIME_SHARES[work]) return [];
    return [{
      kind: work, share: sum / total, node: widest, show: "flame", search: searchFor(names),
      text: sentences[work](formatShare(sum / total), names.map(shownName).join(", ")),
    }];
  });
}

/** A search that finds these names and no others, as many of them as a search may have. */
function searchFor(names: readonly string[]): string {
  let text = "";
  for (const name of names) {
    const more = `${text ? `${text}|` : ""}^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
    if (more.length > MAX_PATTERN || name.length > MAX_TESTED) continue;
    text = more;
  }
  return text;
}

function isNameless(name: string): boolean {
  return /^(0x[0-9a-f]+|\[?unknown\]?|\[[^\]]*\.so[^\]]*\]|\?+)$/i.test(name);
}

function cutAndNameless(tree: FlameTree, rows: readonly FunctionRow[], total: number): Hint[] {
  const hints: Hint[] = [];
  const cut = rows.find((row) => row.isOther);
  if (cut && sureShare(tree, cut.self, total) >= 0.1) {
    const caller = Math.max(0, parentOf(tree, cut.widest));
    hints.push({
      kind: "cut", share: cut.self / total, node: caller, show: "flame",
      text: `${formatShare(cut.self / total)} is in small frames that were put together as "other"; focus on a frame to see them.`,
    });
  }
  const nameless = rows.filter((row) => isNameless(row.text));
  const sum = nameless.reduce((all, row) => all + row.self, 0);
  if (sureShare(tree, sum, total) >= 0.1) {
    const widest = nameless.reduce((a, b) => (b.self > a.self ? b : a)).widest;
    hints.push({
      kind: "nameless", share: sum / total, node: widest, show: "flame", search: searchFor(nameless.slice(0, 20).map((row) => row.text)),
      text: `${formatShare(sum / total)} is spent in functions without names: debug symbols of their modules would tell.`,
    });
  }
  return hints;
}

/** Of a diff: what changed most among what surely changed, by own values, so that callers do not repeat their callees. */
function changes(tree: FlameTree, rows: readonly FunctionRow[]): Hint[] {
  const total = Math.max(Math.abs(tree.totals[0]), Math.abs(tree.totals[1] * tree.factor));
  const isSure = (row: FunctionRow) => {
    const errors = changeInErrors(tree, row.self, row.selfAfter);
    return errors !== null && Math.abs(errors) > SIGNIFICANT && Math.abs(row.selfAfter - row.self) >= total * 0.005;
  };
  const size = (row: FunctionRow) => Math.abs(row.selfAfter - row.self);
  return rows.filter((row) => !row.isOther && isSure(row)).sort((a, b) => size(b) - size(a)).slice(0, 8).map((row) => {
    const change = row.selfAfter - row.self;
    const word = row.self === 0 ? "is new and takes" : change > 0 ? "grew by" : "shrank by";
    const part = row.self === 0 ? "" : ` (${formatShare(Math.abs(change / row.self))})`;
    return {
      kind: "change", share: size(row) / total, node: row.widest, show: "sandwich",
      text: `${shownName(row.text)} itself ${word} ${formatValue(Math.abs(change), tree.unit)}${part}, more than chance would do.`,
    };
  });
}

/** For the text beside the hints: how many samples there are. */
export function samplesText(tree: FlameTree): string {
  return tree.samples.map((count) => (count === null ? "unknown" : formatCount(Math.round(count)))).join(" and ");
}

