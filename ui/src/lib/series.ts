// SPDX-License-Identifier: Apache-2.0
// What timelines need to be computed: which kind of value to ask for, stacks of the largest groups, and ticks.

import type { Series, SeriesGroup, SeriesKind } from "../api/series.ts";
import { formatBytes, formatCores, formatCount, formatDuration, formatShare, formatValue } from "./format.ts";
import { shortType } from "./query.ts";

const levels = /^(inuse_|goroutine|threads?$)/;
const flows = new Set([
  "alloc_space",
  "alloc_objects",
  "mutex_count",
  "mutex_duration",
  "block_count",
  "block_duration",
]);

/** How values of a type are best shown over time: CPU as cores, other known flows per second, everything else as it is.
 * `type` is full or short; "" where the query names none, then `types` says what the service has. */
export function kindOf(type: string, types: readonly string[] = []): SeriesKind {
  const isCpu = (full: string) => /^[^:]*:cpu:nanoseconds:/.test(full);
  if (type.includes(":")) {
    if (isCpu(type)) return "cores";
  } else if (type === "" || type === "cpu" || type === "itimer") {
    return types.some(isCpu) ? "cores" : "sum";
  }
  const short = shortType(type);
  if (levels.test(short)) return "sum";
  return flows.has(short) ? "rate" : "sum";
}

/** A value of a point, with its unit. */
export function formatPoint(value: number, unit: string): string {
  if (unit === "cores") return formatCores(value);
  if (unit === "share") return formatShare(value);
  const perSecond = unit.endsWith("/second") ? unit.slice(0, -"/second".length) : "";
  if (perSecond === "nanoseconds") return `${formatDuration(value)}/s`;
  if (perSecond === "bytes") return `${formatBytes(value)}/s`;
  if (perSecond) return `${formatCount(value)}/s`;
  return formatValue(value, unit);
}

export interface Layer {
  name: string;
  labels: Record<string, string> | null; // null: the rest, added up
  values: (number | null)[];
  tops: (number | null)[]; // of the stack; null in gaps
  mean: number; // of the points that there are
  max: number;
}

/** "" is the group of what has no such label. */
export function groupName(labels: Record<string, string>): string {
  const values = Object.values(labels);
  if (values.length === 0) return "all";
  return values.map((value) => value || "(none)").join(", ");
}

function addedUp(groups: readonly SeriesGroup[], nPoints: number): (number | null)[] {
  const sums = new Array<number | null>(nPoints).fill(null);
  for (const group of groups) {
    for (let i = 0; i < nPoints; i++) {
      const value = group.points[i];
      if (value !== null && value !== undefined) sums[i] = (sums[i] ?? 0) + value;
    }
  }
  return sums;
}

/** The `nShown` largest groups and the rest as one, each upon those before it. A point that has no profile at all is a gap; one
 * that only this group lacks is as high as what is below it. */
export function stackLayers(series: Pick<Series, "groups" | "nLeftOut" | "remainder">, nShown: number): Layer[] {
  const { remainder } = series;
  const groups = remainder ? [...series.groups, { labels: {}, sum: 0, points: remainder }] : series.groups;
  const nPoints = groups.reduce((n, group) => Math.max(n, group.points.length), 0);
  const rest = groups.slice(nShown);
  const layers = groups
    .slice(0, nShown)
    .map((group) => ({ name: groupName(group.labels), labels: group.labels as Layer["labels"], values: group.points }));
  const nRest = Math.max(0, series.groups.length - nShown) + (remainder ? series.nLeftOut : 0);
  if (rest.length > 0) layers.push({ name: `${nRest} more`, labels: null, values: addedUp(rest, nPoints) });
  const isGap = addedUp(groups, nPoints).map((sum) => sum === null);
  const height = new Array<number>(nPoints).fill(0);
  return layers.map(({ name, labels, values }) => {
    let [sum, n, max] = [0, 0, -Infinity];
    const tops = values.map((value, i) => {
      if (value !== null) {
        sum += value;
        n++;
        max = Math.max(max, value);
      }
      height[i] += value ?? 0;
      return isGap[i] ? null : height[i];
    });
    return { name, labels, values, tops, mean: n > 0 ? sum / n : 0, max: n > 0 ? max : 0 };
  });
}

/** What `total` has beyond the groups, for groups that were left out. */
export function remainderOf(total: Pick<Series, "groups">, groups: readonly SeriesGroup[]): (number | null)[] {
  const points = total.groups[0]?.points ?? [];
  const known = addedUp(groups, points.length);
  return points.map((value, i) => (value === null ? null : Math.max(0, value - (known[i] ?? 0))));
}

/* Without 15 and 20 s: profiles come every 10 or 15 s mostly, and would fall once singly and once in pairs into such points. */
const steps = [10, 30, 60, 120, 300, 600, 1800, 3600, 14400, 21600, 43200, 86400];

/** The next round number of seconds. */
export function roundStep(seconds: number): number {
  return steps.find((step) => step >= seconds) ?? Math.ceil(seconds / 86400) * 86400;
}

/** How much time a point should cover, in whole seconds of a round number, so that there are at most `nPoints`. */
export function stepOf(rangeMs: number, nPoints: number): number {
  return roundStep(rangeMs / 1000 / Math.max(1, nPoints));
}

const outagePoints = 12;

/** A longer step where profiles come more seldom than points, so that points do not go up and down by chance; null if the step
 * is well chosen. Long gaps are taken for outages. */
export function longerStep(series: Pick<Series, "groups" | "stepMs">): number | null {
  const nPoints = series.groups.reduce((n, group) => Math.max(n, group.points.length), 0);
  const isThere = addedUp(series.groups, nPoints).map((sum) => sum !== null);
  let [last, distance, n] = [-1, 0, 0];
  isThere.forEach((is, i) => {
    if (!is) return;
    if (last >= 0 && i - last <= outagePoints) {
      distance += i - last;
      n++;
    }
    last = i;
  });
  if (n < 4 || distance / n < 1.2) return null;
  return roundStep((series.stepMs / 1000) * (distance / n) * 2);
}
