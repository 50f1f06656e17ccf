// SPDX-License-Identifier: Apache-2.0
// Which frames of the call tree are open, and the rows that makes.

import { childrenOf, nameOf, parentOf, type FlameTree } from "../../flame/tree.ts";

export interface TreeRow {
  node: number;
  level: number; // 0 for what the root calls
  isLeaf: boolean;
}

const HOT = 0.4;

/** The frames to be open at first: from the root on the one that costs most, as long as it is a large part of its caller. */
export function hotPath(tree: FlameTree): Set<number> {
  const opened = new Set([0]);
  for (let node = 0; ; ) {
    const [first, end] = childrenOf(tree, node);
    let widest = first;
    for (let child = first; child < end; child++) if (tree.width[child] > tree.width[widest]) widest = child;
    if (first === end || tree.width[widest] < tree.width[node] * HOT) return opened;
    opened.add(widest);
    node = widest;
  }
}

/** Rows from top to bottom: what the root calls, and what is below open frames. */
export function visibleRows(tree: FlameTree, opened: ReadonlySet<number>): TreeRow[] {
  const rows: TreeRow[] = [];
  const waiting: [number, number, number][] = [[...childrenOf(tree, 0), 0]];
  while (waiting.length > 0) {
    const at = waiting[waiting.length - 1];
    if (at[0] === at[1]) {
      waiting.pop();
      continue;
    }
    const node = at[0]++;
    const [first, end] = childrenOf(tree, node);
    rows.push({ node, level: at[2], isLeaf: first === end });
    if (first < end && opened.has(node)) waiting.push([first, end, at[2] + 1]);
  }
  return rows;
}

/** The frames of another tree that have the same names on their way as the open ones. */
export function carryOver(opened: ReadonlySet<number>, from: FlameTree, to: FlameTree): Set<number> {
  const moved = new Map([[0, 0]]);
  const move = (node: number): number => {
    const known = moved.get(node);
    if (known !== undefined) return known;
    const parent = move(parentOf(from, node));
    let found = -1;
    if (parent >= 0) {
      const [first, end] = childrenOf(to, parent);
      for (let child = first; child < end && found < 0; child++) if (nameOf(to, child) === nameOf(from, node)) found = child;
    }
    moved.set(node, found);
    return found;
  };
  return new Set([...opened].sort((a, b) => a - b).map(move).filter((node) => node >= 0));
}
