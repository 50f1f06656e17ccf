// SPDX-License-Identifier: Apache-2.0
// Trees for tests, from folded stacks: "main;parse 3" adds 3; "main;parse 3 5" adds 3 before and 5 after.

import { emptyFrame, TreeBuilder } from "../src/flame/builder.ts";
import { childrenOf, nameOf, OTHER, selfOf, type FlameTree } from "../src/flame/tree.ts";

interface Node {
  own: [number, number];
  children: Map<string, Node>;
}

export interface TreeOptions {
  isDiff?: boolean;
  samples?: (number | null)[];
  unit?: string;
  factor?: number;
  modules?: Record<string, string>; // by function
  kinds?: Record<string, number>;
}

const newNode = (): Node => ({ own: [0, 0], children: new Map() });

export function treeOf(text: string, options: TreeOptions = {}): FlameTree {
  const root = newNode();
  for (const line of text.trim().split("\n")) {
    const [, stack, first, second] = /^\s*(.*?) (-?[\d.]+)(?: (-?[\d.]+))?$/.exec(line)!;
    let node = root;
    for (const name of stack === "-" ? [] : stack.split(";")) {
      if (!node.children.has(name)) node.children.set(name, newNode());
      node = node.children.get(name)!;
    }
    node.own[0] += Number(first);
    node.own[1] += Number(second ?? 0);
  }
  const texts = ["", ...new Set(Object.values(options.modules ?? {}))];
  const frame = { ...emptyFrame(options.unit ?? "nanoseconds", options.isDiff), texts };
  const builder = new TreeBuilder({ ...frame, factor: options.factor ?? 1, samples: options.samples ?? (options.isDiff ? [null, null] : [null]) });
  const numbers = new Map<string, number>();
  const numberOf = (name: string) => {
    if (!numbers.has(name)) {
      const module = texts.indexOf(options.modules?.[name] ?? "");
      numbers.set(name, builder.addName(name, { module, kind: options.kinds?.[name] ?? 0 }));
    }
    return numbers.get(name)!;
  };
  const sum = (node: Node): number => node.own[0] + node.own[1] + [...node.children.values()].reduce((all, child) => all + sum(child), 0);
  const add = (name: string, node: Node) => {
    builder.enter(numberOf(name), name === "other" ? OTHER : 0);
    const children = [...node.children].sort((a, b) => sum(b[1]) - sum(a[1]) || (a[0] < b[0] ? -1 : 1));
    for (const [childName, child] of children) add(childName, child);
    builder.leave(node.own[0], node.own[1]);
  };
  add("root", root);
  return builder.build();
}

/** The tree as folded stacks again, in the order of the layout, without the root. */
export function foldedOf(tree: FlameTree): string[] {
  const lines: string[] = [];
  const walk = (node: number, path: string[]) => {
    const values = tree.before ? [selfOf(tree, node, "before"), selfOf(tree, node, "after")] : [selfOf(tree, node)];
    if (values.some((value) => value !== 0)) lines.push(`${path.join(";") || "-"} ${values.join(" ")}`);
    const [first, end] = childrenOf(tree, node);
    for (let child = first; child < end; child++) walk(child, [...path, nameOf(tree, child)]);
  };
  walk(0, []);
  return lines;
}

/** A tree like that of a large service: `n` nodes, skewed, with recursion, the same for the same seed. */
export function largeTree(n: number, nNames = 12000, isDiff = false): FlameTree {
  let seed = 12345;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const builder = new TreeBuilder(emptyFrame("nanoseconds", isDiff));
  const names = Array.from({ length: nNames }, (_, i) => builder.addName(`pkg${i % 97}.function_${i}`));
  let made = 0;
  const grow = (depth: number) => {
    const nChildren = depth > 110 ? 0 : depth < 3 ? 12 : random() < 0.35 ? 0 : random() < 0.6 ? 1 : 1 + Math.floor(random() * 4);
    const used = new Set<number>();
    for (let i = 0; i < nChildren && made < n; i++) {
      const name = names[Math.floor(random() ** 2 * nNames)];
      if (used.has(name)) continue;
      used.add(name);
      made++;
      builder.enter(name);
      grow(depth + 1);
      builder.leave(1 + Math.floor(random() * 50), isDiff ? Math.floor(random() * 50) : 0);
    }
  };
  builder.enter(builder.addName("root"));
  while (made < n) {
    const name = builder.addName(`thread_${made}`);
    made++;
    builder.enter(name);
    grow(0);
    builder.leave(1);
  }
  builder.leave(0);
  return builder.build();
}
