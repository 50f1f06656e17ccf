// SPDX-License-Identifier: Apache-2.0
// Cells of a heat map: which one is at a place, where keys lead to, and what one says.

import type { Heatmap } from "../api/series.ts";
import { formatTime, type Zone } from "./format.ts";
import { formatPoint } from "./series.ts";

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
export function stepCell(key: string, from: Cell | null, counts: readonly (readonly number[])[], nBuckets: number): Cell | null {
  const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (!(key in moves) || counts.length === 0) return null;
  if (!from) {
    const point = Math.max(0, counts.findLastIndex((column) => column.some((count) => count > 0)));
    return { point, bucket: fullest(counts[point]) };
  }
  const clamp = (value: number, n: number) => Math.max(0, Math.min(n - 1, value));
  return { point: clamp(from.point + moves[key][0], counts.length), bucket: clamp(from.bucket + moves[key][1], nBuckets) };
}

export function textOfCell(map: Heatmap, cell: Cell, zone: Zone): string {
  const count = map.counts[cell.point]?.[cell.bucket] ?? 0;
  const what = map.kind === "span" ? (count === 1 ? "span" : "spans") : count === 1 ? "profile" : "profiles";
  const time = formatTime(map.fromMs + cell.point * map.stepMs, zone);
  const [low, high] = [map.borders[cell.bucket], map.borders[cell.bucket + 1]].map((value) => formatPoint(value, map.unit));
  return `${time}: ${count} ${what} of ${low} to ${high}`;
}
