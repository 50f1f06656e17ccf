// SPDX-License-Identifier: Apache-2.0
// Ranges of time as URLs and the API write them: now, now-1h, milliseconds since 1970. Relative ones stay relative until they
// are pinned.

const units: Record<string, number> = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3 };

/** The moment that `text` means, in milliseconds; NaN if it is none. */
export function resolveTime(text: string, nowMs: number): number {
  const relative = /^now(?:-(\d+(?:\.\d+)?)(ms|s|m|h|d|w))?$/.exec(text);
  if (relative) return relative[1] === undefined ? nowMs : nowMs - Number(relative[1]) * units[relative[2]];
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
