// SPDX-License-Identifier: Apache-2.0
// Cells of a heat map: which one is at a place, where keys lead to, and what one says.

import type { Heatmap } from "../api/series.ts";
import { formatTime, type Zone } from "./format.ts";
import { formatPoint, roundStep } from "./series.ts";

export interface Cell {
  point: number;
  bucket: number; // 0 is the lowest
}

/** Where the cells are, in pixels. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
  nPoints: number;
  nBuckets: number;
}

export function cellAt(frame: Frame, x: number, y: number): Cell | null {
  const point = Math.floor(((x - frame.left) / frame.width) * frame.nPoints);
  const bucket = Math.floor(((frame.top + frame.height - y) / frame.height) * frame.nBuckets);
  return point >= 0 && point < frame.nPoints && bucket >= 0 && bucket < frame.nBuckets ? { point, bucket } : null;
}

function fullest(column: readonly number[]): number {
  return column.reduce((best, count, bucket) => (count > column[best] ? bucket : best), 0);
}

/** Where a key leads to; null for keys that mean nothing here. The first one leads to the newest column with profiles. */
export function stepCell(
  key: string,
  from: Cell | null,
  counts: readonly (readonly number[])[],
  nBuckets: number,
): Cell | null {
  const moves: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, 1],
    ArrowDown: [0, -1],
  };
  if (!(key in moves) || counts.length === 0) return null;
  if (!from) {
    const point = Math.max(
      0,
      counts.findLastIndex((column) => column.some((count) => count > 0)),
    );
    return { point, bucket: fullest(counts[point]) };
  }
  const clamp = (value: number, n: number) => Math.max(0, Math.min(n - 1, value));
  return {
    point: clamp(from.point + moves[key][0], counts.length),
    bucket: clamp(from.bucket + moves[key][1], nBuckets),
  };
}

/** "3 profiles". */
export function countOfCell(map: Heatmap, cell: Cell): string {
  const count = map.counts[cell.point]?.[cell.bucket] ?? 0;
  return `${count} ${map.kind}${count === 1 ? "" : "s"}`;
}

export function textOfCell(map: Heatmap, cell: Cell, zone: Zone): string {
  const time = formatTime(map.fromMs + cell.point * map.stepMs, zone);
  const [low, high] = [map.borders[cell.bucket], map.borders[cell.bucket + 1]].map((value) =>
    formatPoint(value, map.unit),
  );
  return `${time}: ${countOfCell(map, cell)} of ${low} to ${high}`;
}

/** Round moments for the axis, at least `leastPixels` apart. Whole hours are those of the zone that is shown. */
export function timeTicks(fromMs: number, untilMs: number, width: number, leastPixels: number, zone: Zone): number[] {
  const step = roundStep((((untilMs - fromMs) / 1000) * leastPixels) / Math.max(1, width)) * 1000;
  const offset = zone === "utc" ? 0 : new Date(fromMs).getTimezoneOffset() * 60_000;
  const ticks: number[] = [];
  for (let ms = Math.ceil((fromMs - offset) / step) * step + offset; ms < untilMs; ms += step) ticks.push(ms);
  return ticks;
}
