// SPDX-License-Identifier: Apache-2.0
// Other forms of the same profile: frames hidden, recursion collapsed, functions of one library put together, one part alone.
// None loses a value: the total of the new tree is that of the old one, or of the part that was asked for.

import { libraryOf } from "./library.ts";
import { Regrouper, type NameTable, type Offer, type PlainChildren } from "./regroup.ts";
import { childStartsOf, isOther } from "./structure.ts";
import { KINDS, type FlameTree } from "./tree.ts";

/** Grows a tree from `roots` downwards. A frame for which `isPartOf` holds becomes part of the node above it, and what it
 *  calls is called by that node. `keys` are the names of the new tree for those of the source. */
function regroupDown(
  tree: FlameTree, roots: readonly number[], rootKey: number, capacity: number,
  isPartOf: ((node: number, aboveKey: number) => boolean) | null,
  keyOf: ((node: number) => number) | null = null, table: NameTable = tree,
): FlameTree {
  const starts = childStartsOf(tree);
  const { name, flags } = tree;
  const waiting: number[] = [];
  const expand = (key: number, member: number, offer: Offer) => {
    let node: number | undefined = member;
    while (node !== undefined) {
      for (let child = starts[node], end = starts[node + 1]; child < end; child++) {
        if (isPartOf !== null && isPartOf(child, key)) waiting.push(child);
        else offer(child, keyOf === null ? name[child] : keyOf(child), child, flags === null ? 0 : flags[child]);
      }
      node = waiting.pop();
    }
  };
  const plainChildren: PlainChildren = (member, key, range) => {
    range.from = starts[member];
    range.to = starts[member + 1];
    if (isPartOf !== null) for (let child = range.from; child < range.to; child++) if (isPartOf(child, key)) return false;
    return true;
  };
  return new Regrouper(tree, capacity, table).grow(rootKey, roots, roots, expand, keyOf === null ? plainChildren : undefined);
}

/** Leaves out every frame with such a name. Its callees become those of its caller, and so does its own value. */
export function hideFrames(tree: FlameTree, isHidden: (name: string) => boolean): FlameTree {
  const hidden = Uint8Array.from(tree.names, (name) => (isHidden(name) ? 1 : 0));
  if (!hidden.includes(1)) return tree;
  return regroupDown(tree, [0], tree.name[0], tree.n, (node) => hidden[tree.name[node]] === 1);
}

/** Shows a function that calls itself directly once. */
export function collapseRecursion(tree: FlameTree): FlameTree {
  return regroupDown(tree, [0], tree.name[0], tree.n, (node, aboveKey) => tree.name[node] === aboveKey);
}

/** One frame for each stretch of calls within one library. */
export function groupByLibrary(tree: FlameTree): FlameTree {
  const { table, libraries, other } = libraryTable(tree);
  const keyOf = (node: number) => (isOther(tree, node) ? other : libraries[tree.name[node]]);
  return regroupDown(tree, [0], 0, tree.n, (node, aboveKey) => keyOf(node) === aboveKey, keyOf, table);
}

/** Names of libraries instead of functions: 0 is the root, the last is for what was cut. */
function libraryTable(tree: FlameTree): { table: NameTable; libraries: Uint32Array; other: number } {
  const names = [tree.names[tree.name[0]]];
  const examples = [tree.name[0]];
  const numbers = new Map<string, number>();
  const libraries = Uint32Array.from(tree.names, (_, i) => {
    const library = libraryOf(tree, i);
    const known = numbers.get(library);
    if (known !== undefined) return known;
    numbers.set(library, names.length);
    examples.push(i);
    return names.push(library) - 1;
  });
  const other = names.push("other") - 1;
  const hasModule = (i: number) => i > 0 && i < other && KINDS[tree.kinds[examples[i]]] !== "kernel";
  const table = {
    names,
    kinds: Uint8Array.from(names, (_, i) => (i < other ? tree.kinds[examples[i]] : 0)),
    modules: Uint32Array.from(names, (_, i) => (hasModule(i) ? tree.modules[examples[i]] : 0)),
    files: new Uint32Array(names.length),
    lines: new Uint32Array(names.length),
    texts: tree.texts,
  };
  return { table, libraries, other };
}

/** Nodes (none of them above another) and all below them, as one tree with all of them as its root. */
export function treeBelow(tree: FlameTree, nodes: readonly number[]): FlameTree {
  return regroupDown(tree, nodes, tree.name[nodes[0]], 1024, null);
}
