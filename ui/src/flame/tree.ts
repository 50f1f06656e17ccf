// SPDX-License-Identifier: Apache-2.0
// The flame tree as columns, and the questions that views ask about it. Nodes are numbered level by level, from left to
// right, so that the nodes of a level are sorted by where they begin and the children of a node are neighbours; node 0 is
// the root. There is no object for a node and no column for parents or own values: both follow from where nodes begin.
//
// T1  left never decreases within a level, and a node begins where its first child does.
// T2  a node ends at or before the beginning of the next of its level.
// T3  every node but the root has a width above 0, except where a value is lost beside one 2^53 times as large.

export type Column = Uint32Array | Float64Array;

export const INLINED = 1;
export const PARTLY_INLINED = 2;
export const OTHER = 4;

export interface FlameTree {
  /** How many nodes, and how many levels. */
  readonly n: number;
  readonly depth: number;
  /** [depth + 1]: the nodes of level d are levelStart[d] up to levelStart[d + 1]. */
  readonly levelStart: Uint32Array;
  /** Layout, in units of `divisor`: |own value| of the node and all below it; of a diff that of both sides added up. */
  readonly left: Column;
  readonly width: Column;
  /** Into names. */
  readonly name: Uint16Array | Uint32Array;
  /** Diff only: totals of both sides in units of `divisor`, the second one multiplied by `factor` already. */
  readonly before: Column | null;
  readonly after: Column | null;
  /** One column with negative values only: totals in units of `divisor`. Otherwise `width` is the total. */
  readonly values: Float64Array | null;
  /** INLINED, PARTLY_INLINED, OTHER (stands for what was cut); null if no node has any. */
  readonly flags: Uint8Array | null;
  /** For each name its kind (KINDS), its module and file (into texts, 0 = none) and line (0 = unknown). */
  readonly names: readonly string[];
  readonly kinds: Uint8Array;
  readonly modules: Uint32Array;
  readonly files: Uint32Array;
  readonly lines: Uint32Array;
  readonly texts: readonly string[];
  readonly unit: string;
  readonly divisor: number;
  /** What values of the second column were multiplied by to be compared with the first; 1 with one column. */
  readonly factor: number;
  readonly isInverted: boolean;
  readonly isSigned: boolean;
  /** For each column, true values; that of the second is not multiplied by `factor`. */
  readonly totals: readonly number[];
  /** Raw samples for each column, null if unknown. */
  readonly samples: readonly (number | null)[];
  /** What the two columns of a diff are called, in small letters. */
  readonly sides: Sides;
}

export type Sides = readonly [string, string];
export const BEFORE_AFTER: Sides = ["before", "after"];

/** Kinds of frames, in the order of their numbers. */
export const KINDS = [
  "",
  "native",
  "kernel",
  "go",
  "rust",
  "cpython",
  "jvm",
  "v8js",
  "ruby",
  "php",
  "perl",
  "dotnet",
  "beam",
  "luajit",
  "jit",
  "abort-marker",
] as const;

/** The first number in [from, to) whose `left` is above x, or `to`. */
export function firstAfter(left: Column, from: number, to: number, x: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (left[middle] > x) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The first number in [from, to) whose `left` is x or above, or `to`. */
export function firstFrom(left: Column, from: number, to: number, x: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (left[middle] >= x) to = middle;
    else from = middle + 1;
  }
  return from;
}

export function levelOf(tree: FlameTree, node: number): number {
  let low = 0;
  let high = tree.depth - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (tree.levelStart[middle] <= node) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The parent; -1 for the root. */
export function parentOf(tree: FlameTree, node: number): number {
  const level = levelOf(tree, node);
  if (level === 0) return -1;
  const start = tree.levelStart[level - 1];
  return Math.max(start, firstAfter(tree.left, start, tree.levelStart[level], tree.left[node]) - 1);
}

/** The children are the nodes from the first number up to, not including, the second. */
export function childrenOf(tree: FlameTree, node: number): [number, number] {
  const level = levelOf(tree, node);
  if (level + 1 >= tree.depth) return [tree.n, tree.n];
  const start = tree.levelStart[level + 1];
  const end = tree.levelStart[level + 2];
  const first = firstFrom(tree.left, start, end, tree.left[node]);
  if (node + 1 >= start) return [first, end];
  return [first, firstFrom(tree.left, first, end, tree.left[node + 1])];
}

/** The first numbers of each level that lie within `node` or begin behind it: [first, end) for `level` below its own. */
export function rangeWithin(tree: FlameTree, node: number, level: number): [number, number] {
  const start = tree.levelStart[level];
  const end = tree.levelStart[level + 1];
  const own = levelOf(tree, node);
  const first = firstFrom(tree.left, start, end, tree.left[node]);
  if (node + 1 >= tree.levelStart[own + 1]) return [first, end];
  return [first, firstFrom(tree.left, first, end, tree.left[node + 1])];
}

/** Nodes from the root to `node`, both included. */
export function pathOf(tree: FlameTree, node: number): number[] {
  const path = [];
  for (let at = node; at >= 0; at = parentOf(tree, at)) path.push(at);
  return path.reverse();
}

/** The node of a level at x (in units of the layout), or -1. */
export function nodeAt(tree: FlameTree, level: number, x: number): number {
  if (level < 0 || level >= tree.depth) return -1;
  const start = tree.levelStart[level];
  const node = firstAfter(tree.left, start, tree.levelStart[level + 1], x) - 1;
  return node >= start && x < tree.left[node] + tree.width[node] ? node : -1;
}

export function nameOf(tree: FlameTree, node: number): string {
  return tree.names[tree.name[node]];
}

/** Which column of a diff is meant; of a tree with one column both mean that one. */
export type Side = "both" | "before" | "after";

function columnOf(tree: FlameTree, side: Side): Column {
  if (tree.before && side === "before") return tree.before;
  if (tree.after && side === "after") return tree.after;
  return tree.values ?? tree.width;
}

/** The total of a node as a true value. Of a diff: both sides added up, or one; that after is multiplied by `factor`. */
export function valueOf(tree: FlameTree, node: number, side: Side = "both"): number {
  return columnOf(tree, side)[node] * tree.divisor;
}

/** The own value of a node as a true value, like valueOf(). */
export function selfOf(tree: FlameTree, node: number, side: Side = "both"): number {
  const column = columnOf(tree, side);
  const [first, end] = childrenOf(tree, node);
  let sum = 0;
  for (let i = first; i < end; i++) sum += column[i];
  const self = column[node] - sum;
  /* Sums of what was multiplied by a factor are off by a little. */
  return Math.abs(self) <= Math.abs(column[node]) * 1e-12 ? 0 : self * tree.divisor;
}

/** Own widths of all nodes, in units of the layout: one pass over the tree. */
export function selfWidths(tree: FlameTree): Float64Array {
  const selfs = Float64Array.from(tree.width);
  for (let level = 1; level < tree.depth; level++) {
    const parents = tree.levelStart[level];
    let parent = tree.levelStart[level - 1];
    for (let i = parents, end = tree.levelStart[level + 1]; i < end; i++) {
      while (parent + 1 < parents && tree.left[parent + 1] <= tree.left[i]) parent++;
      selfs[parent] -= tree.width[i];
    }
  }
  return selfs;
}

/** The node reached by names from the root (whose own name does not matter), or -1; or with `isPartial` as far as it goes. */
export function findPath(tree: FlameTree, names: readonly string[], isPartial = false): number {
  let node = 0;
  for (const name of names.slice(1)) {
    const [first, end] = childrenOf(tree, node);
    let child = first;
    while (child < end && nameOf(tree, child) !== name) child++;
    if (child === end) return isPartial ? node : -1;
    node = child;
  }
  return node;
}

/** How many levels have a node within [v0, v1) of the layout. */
export function levelsWithin(tree: FlameTree, v0: number, v1: number): number {
  let level = 1;
  for (; level < tree.depth; level++) {
    const start = tree.levelStart[level];
    const end = tree.levelStart[level + 1];
    const behind = firstFrom(tree.left, start, end, v1);
    if (behind === start || tree.left[behind - 1] + tree.width[behind - 1] <= v0) break;
  }
  return level;
}

export function isDiff(tree: FlameTree): boolean {
  return tree.before !== null;
}
