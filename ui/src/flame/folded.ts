// SPDX-License-Identifier: Apache-2.0
// A tree as folded stacks: "main;parse;read 12", one line for each frame with a value of its own, as flame graph tools read it.

import { childStartsOf } from "./structure.ts";
import type { FlameTree } from "./tree.ts";

/** Stacks of the tree below its root, which stands for everything. With `prefix` each begins with these names, and the root is
 *  the last of them. Of a diff the lines have two values: before and after. */
export function foldedOf(tree: FlameTree, prefix: readonly string[] = []): string {
  const starts = childStartsOf(tree);
  const columns = tree.before && tree.after ? [tree.before, tree.after] : [tree.values ?? tree.width];
  const clean = (name: string) => name.replace(/[;\n\r]/g, ":");
  const names = tree.names.map(clean);
  const lines: string[] = [];
  const path: string[] = prefix.map(clean);
  const depthOfRoot = path.length;
  const waiting: { node: number; level: number }[] = [{ node: 0, level: 0 }];
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    const { node, level } = at;
    path.length = depthOfRoot + Math.max(0, level - 1);
    if (level > 0) path.push(names[tree.name[node]]);
    const own = columns.map((column) => {
      let value = column[node];
      for (let child = starts[node]; child < starts[node + 1]; child++) value -= column[child];
      return Math.abs(value) <= Math.abs(column[node]) * 1e-9 ? 0 : Math.round(value * tree.divisor);
    });
    if (own.some((value) => value !== 0) && path.length > 0) lines.push(`${path.join(";")} ${own.join(" ")}`);
    for (let child = starts[node + 1] - 1; child >= starts[node]; child--) waiting.push({ node: child, level: level + 1 });
  }
  return lines.length > 0 ? `${lines.join("\n")}\n` : "";
}
