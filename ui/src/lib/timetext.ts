// SPDX-License-Identifier: Apache-2.0
// Ranges of time in words, and times as fields of a form take them.

import { formatDuration, formatTime, type Zone } from "./format.ts";
import { isRelative, quickRanges, resolveTime, type TimeRange } from "./time.ts";

/** "Last hour", "2 h ago to 1 h ago", "2026-11-16 05:00 to 06:00". */
export function nameOfRange(range: TimeRange, zone: Zone, nowMs: number): string {
  const [from, until] = [resolveTime(range.from, nowMs), resolveTime(range.until, nowMs)];
  if (Number.isNaN(from) || Number.isNaN(until)) return `${range.from} to ${range.until}`;
  if (isRelative(range.from) && range.until === "now") {
    const quick = quickRanges.find((one) => Math.abs(resolveTime(one.range.from, nowMs) - from) < 500);
    return quick?.name ?? `Last ${formatDuration((until - from) * 1e6)}`;
  }
  if (isRelative(range.from) && isRelative(range.until)) {
    return `${formatDuration((nowMs - from) * 1e6)} ago to ${formatDuration((nowMs - until) * 1e6)} ago`;
  }
  const hasSeconds = until - from < 600_000 || from % 60_000 !== 0 || until % 60_000 !== 0;
  const [left, right] = [
    formatTime(from, zone, hasSeconds),
    range.until === "now" ? "now" : formatTime(until, zone, hasSeconds),
  ];
  const isOneDay = left.slice(0, 10) === right.slice(0, 10);
  return `${left} to ${isOneDay ? right.slice(11) : right}`;
}

/** As <input type="datetime-local"> has it: 2026-11-16T05:53:06. */
export function toField(ms: number, zone: Zone): string {
  return Number.isNaN(ms) ? "" : formatTime(ms, zone).replace(" ", "T");
}

/** The moment that such a field means; NaN if it is empty or wrong. */
export function fromField(text: string, zone: Zone): number {
  return text === "" ? NaN : Date.parse(zone === "utc" ? `${text}Z` : text);
}
