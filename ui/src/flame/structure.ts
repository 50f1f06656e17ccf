// SPDX-License-Identifier: Apache-2.0
// Columns that follow from a flame tree and that computations over all of its nodes need. Each is one pass; none is kept.

import { OTHER, type FlameTree } from "./tree.ts";

/** The parent of each node; -1 for the root. */
export function parentsOf(tree: FlameTree): Int32Array {
  const { left } = tree;
  const parents = new Int32Array(tree.n);
  parents[0] = -1;
  for (let level = 1; level < tree.depth; level++) {
    const start = tree.levelStart[level];
    let parent = tree.levelStart[level - 1];
    for (let i = start, end = tree.levelStart[level + 1]; i < end; i++) {
      while (parent + 1 < start && left[parent + 1] <= left[i]) parent++;
      parents[i] = parent;
    }
  }
  return parents;
}

/** [n + 1]: the children of node i are childStarts[i] up to childStarts[i + 1]. */
export function childStartsOf(tree: FlameTree): Uint32Array {
  const { left, n } = tree;
  const starts = new Uint32Array(n + 1);
  for (let level = 0; level < tree.depth; level++) {
    const end = tree.levelStart[level + 1];
    const childEnd = level + 1 < tree.depth ? tree.levelStart[level + 2] : end;
    let child = end;
    for (let i = tree.levelStart[level]; i < end; i++) {
      starts[i] = child;
      if (i + 1 === end) break;
      const next = left[i + 1];
      while (child < childEnd && left[child] < next) child++;
    }
  }
  starts[n] = n;
  return starts;
}

/** For each name the first one with the same text: what people take for one function. */
export function functionsOf(names: readonly string[]): Uint32Array {
  const functions = new Uint32Array(names.length);
  const seen = new Map<string, number>();
  for (let i = 0; i < names.length; i++) {
    const first = seen.get(names[i]);
    functions[i] = first ?? i;
    if (first === undefined) seen.set(names[i], i);
  }
  return functions;
}

/** Whether a node stands for what was cut. */
export function isOther(tree: FlameTree, node: number): boolean {
  return tree.flags !== null && (tree.flags[node] & OTHER) !== 0;
}
