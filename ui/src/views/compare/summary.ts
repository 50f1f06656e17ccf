// SPDX-License-Identifier: Apache-2.0
// One plain sentence about a comparison: how much more or less it is, and what accounts for it.

import type { Delta, Diff, DiffFunction } from "../../api/diff.ts";
import { limitOf } from "../../lib/change.ts";
import { formatCores, formatNumber, formatValue } from "../../lib/format.ts";

/** How values of a diff are told: cores where it is about CPU over time and it is known how many there were. */
export interface Measure {
  unit: string; // "cores" where values are told so, else ""
  what: string; // "CPU per second", "memory in use", "samples"
  format: (value: number) => string;
  formatError: (value: number) => string; // of two digits: more say nothing
}

function measureBy(what: string, convert: (value: number) => number, text: (amount: number) => string): Measure {
  return { what, unit: text === formatCores ? "cores" : "", format: (value) => text(convert(value)), formatError: (value) => text(Number(convert(value).toPrecision(2))) };
}

const nanoseconds: Record<string, number> = { nanoseconds: 1, microseconds: 1e3, milliseconds: 1e6, seconds: 1e9 };

/** What a type is about, in words that people use. */
export function subjectOf(type: string): string {
  const subjects: Record<string, string> = {
    cpu: "CPU", itimer: "CPU", wall: "time", inuse_space: "memory in use", inuse_objects: "objects in use", alloc_space: "memory allocated",
    alloc_objects: "allocations", samples: "samples", goroutine: "goroutines", contentions: "lock contentions", delay: "time waiting for locks",
  };
  return subjects[type] ?? type;
}

/** `cores` is what the side before kept busy on average, where it is known: values of CPU over time are told in cores then. */
export function measureOf(diff: Diff, cores: number | null): Measure {
  const isRate = diff.scaling === "equal durations" && !diff.before.averaged;
  const isShare = diff.scaling === "equal totals";
  const subject = subjectOf(diff.type);
  const isCpu = subject === "CPU" && nanoseconds[diff.unit] !== undefined;
  const { total } = diff.before;
  if (isShare) return measureBy(`share of ${subject}`, (value) => (value / total) * 100, (percent) => (Number.isFinite(percent) ? `${formatNumber(percent)} %` : "–"));
  const spans = diff.before.spans;
  if (diff.scaling === "equal counts" && spans) return measureBy(`${subject} per span`, (value) => value / spans, (value) => formatValue(value, diff.unit));
  if (isRate && isCpu && cores !== null && total > 0) return measureBy("CPU per second", (value) => (value / total) * cores, formatCores);
  return measureBy(isRate ? `${subject} per second` : subject, (value) => value, (value) => formatValue(value, diff.unit));
}

export function signed(value: number, format: (value: number) => string): string {
  return value === 0 ? "±0" : `${value > 0 ? "+" : "−"}${format(Math.abs(value))}`;
}

export type Sureness = "sure" | "probable" | "chance" | "unknown";

export function surenessOf(delta: Delta, n: number): Sureness {
  if (delta.delta === 0 || delta.verdict === "within noise") return "chance";
  if (delta.verdict === "unknown" || delta.error === null) return "unknown";
  return Math.abs(delta.delta) > limitOf(n) * delta.error ? "sure" : "probable";
}

/** How many functions were compared. */
export function countOf(diff: Diff): number {
  return diff.functions.length + diff.not_shown;
}

function percentText(before: number, after: number): string {
  const percent = Math.abs(after / before - 1) * 100;
  if (percent >= 900 && after > before) return `${formatNumber(Number((after / before).toPrecision(3)))} times as much`;
  const text = percent >= 10 ? String(Math.round(percent)) : formatNumber(Number(percent.toPrecision(2)));
  return `${text} % ${after > before ? "more" : "less"}`;
}

/** The standard error of the difference of the totals, where samples are known on both sides. */
function totalError(diff: Diff): number | null {
  const { before, after, factor } = diff;
  if (!before.samples || !after.samples) return null;
  const [worthBefore, worthAfter] = [before.total / before.samples, (after.total * factor) / after.samples];
  const variance = (before.samples + after.samples) * worthBefore * worthAfter;
  return variance > 0 ? Math.sqrt(variance) : null;
}

/** "After is 12 % more CPU per second", or whatever is to be said where one side is nothing or the totals were made equal. */
function headline(diff: Diff, measure: Measure): string {
  const before = diff.before.total;
  const after = diff.after.total * diff.factor;
  if (before === 0 && after === 0) return "Both sides are empty";
  if (diff.scaling === "equal totals") return "Both sides are scaled to the same total";
  if (before === 0) return `Before there was nothing, after there is ${measure.format(after)}`;
  if (after === 0) return `Before there was ${measure.format(before)}, after there is nothing`;
  if (before < 0 || after < 0) return `After is ${measure.format(after)}, before was ${measure.format(before)}`;
  const error = totalError(diff);
  const isSame = Math.abs(after / before - 1) < 0.001 || (error !== null && Math.abs(after - before) <= 3 * error);
  if (isSame) return `After is as much ${measure.what} as before${error === null ? "" : ", as far as samples can tell"}`;
  return `After is ${percentText(before, after)} ${measure.what}`;
}

function changeText(fn: DiffFunction, measure: Measure): string {
  const { delta, error } = fn.self;
  const spread = error === null || error === 0 ? "" : ` ± ${measure.formatError(error).replace(/ cores?$/, "")}`;
  return `${signed(delta, measure.format)}${spread}`;
}

/** How much of the whole change one function makes up, in words; "" where that says nothing. */
function partText(part: number): string {
  if (part > 1.25) return "more than all of it";
  if (part > 0.9) return "nearly all of it";
  if (part > 0.5) return "most of it";
  if (part > 0.3) return "a good part of it";
  return "";
}

function nameText(fn: DiffFunction): string {
  return fn.name.length > 120 ? `${fn.name.slice(0, 119)}…` : fn.name || "(no name)";
}

/** What the changes of single functions come to: the one that accounts for most, and the largest against it. */
export function accountOf(diff: Diff, measure: Measure, marks = { new: "which is new", gone: "which is gone" }): string {
  const n = countOf(diff);
  const isTold = (fn: DiffFunction) => ["sure", "unknown"].includes(surenessOf(fn.self, n)) && fn.self.delta !== 0;
  const told = diff.functions.filter(isTold).sort((a, b) => Math.abs(b.self.delta) - Math.abs(a.self.delta));
  if (told.length === 0) return diff.functions.some((fn) => fn.self.delta !== 0) ? "no function changed by more than chance" : "no function changed";
  const whole = diff.after.total * diff.factor - diff.before.total;
  const isShare = diff.scaling === "equal totals";
  const [first, second] = told;
  const mark = first.self.mark ? `, ${marks[first.self.mark]},` : "";
  const part = isShare || whole === 0 || Math.sign(whole) !== Math.sign(first.self.delta) ? "" : partText(first.self.delta / whole);
  if (part) return `${nameText(first)}${mark} alone accounts for ${part} (${changeText(first, measure)})`;
  const verb = first.self.delta > 0 ? "grew" : "shrank";
  const other = second && Math.abs(second.self.delta) > Math.abs(first.self.delta) / 3 ? `, then ${nameText(second)} (${changeText(second, measure)})` : "";
  return `${nameText(first)}${mark} ${verb} most (${changeText(first, measure)})${other}`;
}

export function summaryOf(diff: Diff, cores: number | null): string {
  const measure = measureOf(diff, cores);
  const head = headline(diff, measure);
  if (diff.before.total === 0 && diff.after.total === 0) return `${head}: there is nothing to compare.`;
  const isUnknown = diff.functions.length > 0 && diff.functions.every((fn) => fn.self.verdict === "unknown");
  const caveat = isUnknown ? " How sure this is cannot be told: the profiles do not say how many samples are behind their values." : "";
  return `${head}; ${accountOf(diff, measure)}.${caveat}`;
}
