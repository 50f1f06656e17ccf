// SPDX-License-Identifier: Apache-2.0
// The part of the layout that is shown, and how it moves.

import { type FlameTree, nodeAt } from "./tree.ts";

export interface Range {
  readonly v0: number;
  readonly v1: number;
}

/** Narrower parts than this share of everything have no digits left. */
const MIN_SHARE = 4e-12;

/** A range of at most everything, moved to lie within it. */
export function clampRange(v0: number, v1: number, total: number): Range {
  const span = Math.min(total, Math.max(v1 - v0, total * MIN_SHARE));
  const from = Math.min(Math.max(0, v1 - v0 < span ? (v0 + v1 - span) / 2 : v0), total - span);
  return { v0: from, v1: from + span };
}

/** `factor` > 1 shows more; what is at `at` (0 to 1 from left to right) stays where it is. */
export function zoomRange(range: Range, at: number, factor: number, total: number): Range {
  const span = range.v1 - range.v0;
  const fixed = range.v0 + span * at;
  const wanted = Math.min(total, Math.max(span * factor, total * MIN_SHARE));
  return clampRange(fixed - wanted * at, fixed - wanted * at + wanted, total);
}

export function panRange(range: Range, by: number, total: number): Range {
  return clampRange(range.v0 + by, range.v1 + by, total);
}

/** A step of the way between two ranges, t from 0 to 1: the span goes geometrically, about the place that both share. */
export function betweenRanges(from: Range, to: Range, t: number): Range {
  if (t >= 1) return to;
  const [span, last] = [from.v1 - from.v0, to.v1 - to.v0];
  if (!(span > 0 && last > 0)) return to;
  const now = span * (last / span) ** t;
  const way = Math.abs(last - span) < 1e-9 * span ? t : (now - span) / (last - span);
  const v0 = from.v0 + (to.v0 - from.v0) * way;
  return { v0, v1: v0 + now };
}

export function rangeOf(tree: FlameTree, node: number): Range {
  return clampRange(tree.left[node], tree.left[node] + tree.width[node], tree.width[0]);
}

/** Where `shown`, a part of `from`, lies in `to`. */
export function samePart(shown: Range, from: Range, to: Range, total: number): Range {
  const scale = (to.v1 - to.v0) / (from.v1 - from.v0);
  const [v0, v1] = [to.v0 + (shown.v0 - from.v0) * scale, to.v0 + (shown.v1 - from.v0) * scale];
  return v1 > v0 && Number.isFinite(v0) ? clampRange(v0, v1, total) : to;
}

/** The deepest node that spans the whole range; of those that are equally wide the one that calls the others. */
export function enclosingNode(tree: FlameTree, range: Range): number {
  const slack = (range.v1 - range.v0) * 1e-6;
  let found = 0;
  for (let level = 1; level < tree.depth; level++) {
    const node = nodeAt(tree, level, range.v0 + slack);
    if (node < 0 || tree.left[node] + tree.width[node] < range.v1 - slack) break;
    if (tree.width[node] < tree.width[found]) found = node;
  }
  return found;
}
