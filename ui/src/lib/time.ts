// SPDX-License-Identifier: Apache-2.0
// Ranges of time as URLs and the API write them: now, now-1h, milliseconds since 1970. Relative ones stay relative until they
// are pinned.

const units: Record<string, number> = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3 };

/** The moment that `text` means, in milliseconds; NaN if it is none. */
export function resolveTime(text: string, nowMs: number): number {
  const relative = /^now(?:-((?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+))?$/.exec(text);
  if (relative) {
    let ms = nowMs;
    for (const [, amount, unit] of (relative[1] ?? "").matchAll(/([\d.]+)([a-z]+)/g)) ms -= Number(amount) * units[unit];
    return ms;
  }
  if (/^\d{12,14}$/.test(text)) return Number(text);
  if (/^\d{9,11}$/.test(text)) return Number(text) * 1000;
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) return Date.parse(text);
  return NaN;
}

export function isRelative(text: string): boolean {
  return text.startsWith("now");
}

export interface TimeRange {
  from: string;
  until: string;
}

export const defaultRange: TimeRange = { from: "now-1h", until: "now" };

export const quickRanges: { range: TimeRange; name: string }[] = [
  ["now-5m", "Last 5 minutes"],
  ["now-15m", "Last 15 minutes"],
  ["now-1h", "Last hour"],
  ["now-3h", "Last 3 hours"],
  ["now-12h", "Last 12 hours"],
  ["now-1d", "Last day"],
  ["now-2d", "Last 2 days"],
  ["now-7d", "Last week"],
  ["now-30d", "Last 30 days"],
].map(([from, name]) => ({ range: { from, until: "now" }, name }));

/** Both ends as milliseconds, so that the view stays what it is. */
export function pinned(range: TimeRange, nowMs: number): TimeRange {
  return { from: String(Math.round(resolveTime(range.from, nowMs))), until: String(Math.round(resolveTime(range.until, nowMs))) };
}

/** The same length of time, `shiftMs` earlier; relative ends are written as such where that is exact. */
export function shifted(range: TimeRange, shiftMs: number, nowMs: number): TimeRange {
  const move = (text: string): string => {
    const ms = resolveTime(text, nowMs) - shiftMs;
    if (!isRelative(text)) return String(Math.round(ms));
    const seconds = Math.round((nowMs - ms) / 1000);
    return seconds === 0 ? "now" : `now-${seconds}s`;
  };
  return { from: move(range.from), until: move(range.until) };
}

/** The same middle and twice the length, but nothing of the future; what ends now goes on to end now. */
export function zoomedOut(range: TimeRange, nowMs: number): TimeRange {
  const [from, until] = [resolveTime(range.from, nowMs), resolveTime(range.until, nowMs)];
  const length = Math.max(1000, until - from);
  if (range.until === "now" && isRelative(range.from)) return { from: relativeTo(nowMs - 2 * length, nowMs), until: "now" };
  const end = Math.min(Math.max(nowMs, until), until + length / 2);
  return { from: String(Math.round(end - 2 * length)), until: String(Math.round(end)) };
}

/** now-90s, in the largest unit that is exact. */
function relativeTo(ms: number, nowMs: number): string {
  const seconds = Math.round((nowMs - ms) / 1000);
  if (seconds <= 0) return "now";
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["m", 60]] as const) if (seconds % size === 0) return `now-${seconds / size}${unit}`;
  return `now-${seconds}s`;
}

/** The same length of time, up to now. */
export function unpinned(range: TimeRange, nowMs: number): TimeRange {
  const length = Math.max(1000, resolveTime(range.until, nowMs) - resolveTime(range.from, nowMs));
  return { from: relativeTo(nowMs - length, nowMs), until: "now" };
}

/** A step earlier (-1) or later (1) by the length of the range, not beyond now. Relative ends stay so. */
export function stepped(range: TimeRange, direction: -1 | 1, nowMs: number): TimeRange {
  const [from, until] = [resolveTime(range.from, nowMs), resolveTime(range.until, nowMs)];
  const shift = direction < 0 ? from - until : Math.min(until - from, Math.max(0, nowMs - until));
  if (isRelative(range.from) && isRelative(range.until)) return { from: relativeTo(from + shift, nowMs), until: relativeTo(until + shift, nowMs) };
  return { from: String(Math.round(from + shift)), until: String(Math.round(until + shift)) };
}

/** What is wrong with a range, as a sentence; "" if nothing is. */
export function complaintOf(range: TimeRange, nowMs: number): string {
  const [from, until] = [resolveTime(range.from, nowMs), resolveTime(range.until, nowMs)];
  for (const [text, ms] of [[range.from, from], [range.until, until]] as const) {
    if (Number.isNaN(ms)) return `“${text}” is no time. Write it like now-1h, 2026-11-15T10:00:00Z or seconds since 1970.`;
  }
  return from < until ? "" : "The range ends before it begins.";
}
