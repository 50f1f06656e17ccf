// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. Units are those of profile types: nanoseconds, bytes, count, samples, ...

const timeSteps: [number, string][] = [
  [1, "ns"],
  [1e3, "µs"],
  [1e6, "ms"],
  [1e9, "s"],
  [60e9, "min"],
  [3600e9, "h"],
  [86400e9, "d"],
];
const byteSteps: [number, string][] = [
  [1, "B"],
  [1024, "KiB"],
  [1024 ** 2, "MiB"],
  [1024 ** 3, "GiB"],
  [1024 ** 4, "TiB"],
  [1024 ** 5, "PiB"],
];
const countSteps: [number, string][] = [
  [1, ""],
  [1e3, "k"],
  [1e6, "M"],
  [1e9, "G"],
  [1e12, "T"],
  [1e15, "P"],
  [1e18, "E"],
];
const nanoseconds: Record<string, number> = {
  nanoseconds: 1, ns: 1, microseconds: 1e3, us: 1e3, milliseconds: 1e6, ms: 1e6, seconds: 1e9, s: 1e9, minutes: 60e9, hours: 3600e9,
};

/** At most three digits that matter, without zeros at the end: 1.23, 12.3, 123, 1230. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  const digits = size >= 10 ? 1 : size >= 1 ? 2 : Math.min(8, 2 - Math.floor(Math.log10(size || 1)));
  return String(Number(value.toFixed(digits)));
}

function stepped(value: number, steps: [number, string][]): string {
  const size = Math.abs(value);
  let step = steps[0];
  for (const candidate of steps) if (size >= candidate[0] * 0.9995) step = candidate;
  const shown = value / step[0];
  return step[1] === "" ? formatNumber(shown) : `${formatNumber(shown)} ${step[1]}`;
}

/** A value with its unit: 1.2 s, 3.4 MiB, 12 k samples. */
export function formatValue(value: number, unit: string): string {
  const factor = nanoseconds[unit];
  if (factor !== undefined) return stepped(value * factor, timeSteps);
  if (unit === "bytes" || unit === "byte") return stepped(value, byteSteps);
  if (unit === "" || unit === "count" || unit === "objects" || unit === "samples") return stepped(value, countSteps);
  const rate = /^(\w+)\/(\w+)$/.exec(unit);
  if (rate && nanoseconds[rate[1]] !== undefined && rate[2] === "second") {
    return formatCores((value * nanoseconds[rate[1]]) / 1e9);
  }
  if (rate && rate[1] === "bytes") return `${stepped(value, byteSteps)}/s`;
  return `${stepped(value, countSteps)} ${unit}`.trim();
}

/** With a sign, for differences: +1.2 s, −3 MiB. */
export function formatDelta(value: number, unit: string): string {
  if (value === 0) return "±0";
  return (value > 0 ? "+" : "−") + formatValue(Math.abs(value), unit);
}

export function formatCores(cores: number): string {
  return `${formatNumber(cores)} ${cores === 1 ? "core" : "cores"}`;
}

/** 0.1234 → 12.3 %. */
export function formatShare(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const percent = share * 100;
  const size = Math.abs(percent);
  if (size !== 0 && size < 0.01) return percent < 0 ? "> −0.01 %" : "< 0.01 %";
  return `${percent.toFixed(size >= 99.95 ? 0 : size >= 10 ? 1 : 2)} %`;
}

export function formatBytes(bytes: number): string {
  return stepped(bytes, byteSteps);
}

export function formatCount(count: number): string {
  return stepped(count, countSteps);
}

/** Nanoseconds as one unit: 1.5 h. */
export function formatDuration(ns: number): string {
  return stepped(ns, timeSteps);
}

export type Zone = "local" | "utc";

/** 2026-11-16 05:53:06, in the zone of the browser or in UTC. */
export function formatTime(ms: number, zone: Zone, hasSeconds = true): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const [year, month, day, hour, minute, second] =
    zone === "utc"
      ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
      : [date.getFullYear(), date.getMonth(), date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()];
  if (Number.isNaN(year)) return "–";
  return `${year}-${two(month + 1)}-${two(day)} ${two(hour)}:${two(minute)}${hasSeconds ? `:${two(second)}` : ""}`;
}

/** "3 min ago". */
export function formatAgo(ms: number, nowMs: number): string {
  const passed = nowMs - ms;
  if (Number.isNaN(passed)) return "–";
  if (passed < 1000) return "just now";
  const unit = [86400e3, 3600e3, 60e3, 1e3].find((one) => passed >= one)!;
  const digits = unit > 1e3 ? 10 : 1;
  return `${formatDuration((Math.round((passed / unit) * digits) / digits) * unit * 1e6)} ago`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text of somebody else's, cut where it is longer than anybody reads: laying out 10 kB in a cell takes its time. */
export function shortened(text: string, max = 300): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
