// SPDX-License-Identifier: Apache-2.0
// Other forms of the same profile: frames hidden, recursion collapsed, functions of one library put together, one part alone.
// None loses a value: the total of the new tree is that of the old one, or of the part that was asked for.

import { libraryOf } from "./library.ts";
import { Regrouper, type Expand, type NameTable, type PlainChildren } from "./regroup.ts";
import { childStartsOf } from "./structure.ts";
import { KINDS, OTHER, type Column, type FlameTree } from "./tree.ts";

/** How frames are put together. */
interface Rule {
  /** For each name 1 if its frames become part of their callers. */
  hidden?: Uint8Array;
  /** A frame with the key of its caller becomes part of it. */
  mergesSame?: boolean;
  /** For each name its key, a name of `table`; `other` is the key of what was cut. */
  keys?: { ofName: Uint32Array; other: number; table: NameTable };
}

/** Grows a tree from `roots` downwards. What a frame that becomes part of its caller calls is called by that caller. */
function regroupDown(tree: FlameTree, roots: readonly number[], rootKey: number, capacity: number, rule: Rule): FlameTree {
  const starts = childStartsOf(tree);
  const { name, flags } = tree;
  const hidden = rule.hidden ?? null;
  const keys = rule.keys?.ofName ?? null;
  const other = rule.keys?.other ?? 0;
  const mergesSame = rule.mergesSame === true;
  const grown = new Regrouper(tree, capacity, rule.keys?.table);
  const waiting: number[] = [];
  const expand: Expand = (aboveKey, member) => {
    for (let node: number | undefined = member; node !== undefined; node = waiting.pop()) {
      for (let child = starts[node], end = starts[node + 1]; child < end; child++) {
        const flag = flags === null ? 0 : flags[child];
        const key = keys === null ? name[child] : flag & OTHER ? other : keys[name[child]];
        if ((hidden !== null && hidden[name[child]] === 1) || (mergesSame && key === aboveKey)) waiting.push(child);
        else grown.offer(child, key, child, flag);
      }
    }
  };
  const plainChildren: PlainChildren = (member, aboveKey, range) => {
    range.from = starts[member];
    range.to = starts[member + 1];
    for (let child = range.from; child < range.to; child++) {
      if ((hidden !== null && hidden[name[child]] === 1) || (mergesSame && name[child] === aboveKey)) return false;
    }
    return true;
  };
  return grown.grow(rootKey, roots, roots, expand, keys === null ? plainChildren : undefined);
}

/** Leaves out every frame with such a name. Its callees become those of its caller, and so does its own value. */
export function hideFrames(tree: FlameTree, isHidden: (name: string) => boolean): FlameTree {
  const hidden = Uint8Array.from(tree.names, (name) => (isHidden(name) ? 1 : 0));
  return hidden.includes(1) ? regroupDown(tree, [0], tree.name[0], tree.n, { hidden }) : tree;
}

/** Shows a function that calls itself directly once. */
export function collapseRecursion(tree: FlameTree): FlameTree {
  return regroupDown(tree, [0], tree.name[0], tree.n, { mergesSame: true });
}

/** One frame for each stretch of calls within one library. */
export function groupByLibrary(tree: FlameTree): FlameTree {
  return regroupDown(tree, [0], 0, tree.n, { mergesSame: true, keys: libraryTable(tree) });
}

/** Names of libraries instead of functions: 0 is the root, the last is for what was cut. */
function libraryTable(tree: FlameTree): NonNullable<Rule["keys"]> {
  const names = [tree.names[tree.name[0]]];
  const examples = [tree.name[0]];
  const numbers = new Map<string, number>();
  const ofName = Uint32Array.from(tree.names, (_, i) => {
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
  return { table, ofName, other };
}

/** Nodes (none of them above another) and all below them, as one tree with all of them as its root. */
export function treeBelow(tree: FlameTree, nodes: readonly number[]): FlameTree {
  return regroupDown(tree, nodes, tree.name[nodes[0]], 1024, {});
}

/** A tree whose root is the last function of `path`, put below the rest of the path and a root named as that of `whole`. So
 *  frames have the same paths as in the whole. A tree with another root is given back as it is. */
export function belowPath(tree: FlameTree, path: readonly string[], whole: FlameTree): FlameTree {
  if (path.length === 0 || tree.names[tree.name[0]] !== path[path.length - 1]) return tree;
  const above = [whole.names[whole.name[0]], ...path.slice(0, -1)];
  const k = above.length;
  const nNames = tree.names.length + k;
  const longer = <T extends Uint8Array | Uint32Array>(column: T): T => {
    const to = new (column.constructor as new (n: number) => T)(nNames);
    to.set(column);
    return to;
  };
  const shifted = <T extends Column | null>(column: T): T => {
    if (column === null) return column;
    const to = new (column.constructor as new (n: number) => NonNullable<T>)(tree.n + k);
    to.set(column, k);
    return to.fill(column[0], 0, k) as T;
  };
  const name = new Uint32Array(tree.n + k);
  name.set(tree.name, k);
  for (let i = 0; i < k; i++) name[i] = tree.names.length + i;
  let flags: Uint8Array | null = null;
  if (tree.flags) {
    flags = new Uint8Array(tree.n + k);
    flags.set(tree.flags, k);
  }
  return {
    ...tree, n: tree.n + k, depth: tree.depth + k, flags, name,
    levelStart: Uint32Array.from({ length: tree.depth + k + 1 }, (_, level) => (level < k ? level : tree.levelStart[level - k] + k)),
    left: shifted(tree.left), width: shifted(tree.width), before: shifted(tree.before), after: shifted(tree.after), values: shifted(tree.values),
    names: [...tree.names, ...above],
    kinds: longer(tree.kinds), modules: longer(tree.modules), files: longer(tree.files), lines: longer(tree.lines),
  };
}
