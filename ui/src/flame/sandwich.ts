// SPDX-License-Identifier: Apache-2.0
// One function wherever it is called: all of its callers above it, all of its callees below. A call of the function within
// itself is among the callees and adds nothing of its own, so that both trees come to the total of the function in the table.

import { Regrouper } from "./regroup.ts";
import { functionsOf, isOther, parentsOf } from "./structure.ts";
import { treeBelow } from "./transform.ts";
import type { FlameTree } from "./tree.ts";

/** The outermost frames of a function, in ascending order. */
function framesOf(tree: FlameTree, functionName: string, parents = parentsOf(tree)): number[] {
  const wanted = tree.names.indexOf(functionName);
  if (wanted < 0) return [];
  const functions = functionsOf(tree.names);
  const isCovered = new Uint8Array(tree.n);
  const found: number[] = [];
  for (let i = 1; i < tree.n; i++) {
    if (isCovered[parents[i]] === 1) isCovered[i] = 1;
    else if (functions[tree.name[i]] === wanted && !isOther(tree, i)) {
      isCovered[i] = 1;
      found.push(i);
    }
  }
  return found;
}

/** The function at the root, what it calls below; null if the tree does not have it. */
export function calleesOf(tree: FlameTree, functionName: string): FlameTree | null {
  const frames = framesOf(tree, functionName);
  return frames.length === 0 ? null : treeBelow(tree, frames);
}

/** The function at the root, its callers below it, theirs below them; null if the tree does not have it. */
export function callersOf(tree: FlameTree, functionName: string): FlameTree | null {
  const parents = parentsOf(tree);
  const frames = framesOf(tree, functionName, parents);
  if (frames.length === 0) return null;
  /* Members are frames of the function, each with how far up it has been followed. */
  const reached = Int32Array.from(frames);
  const regrouper = new Regrouper(tree, 1024);
  const grown = regrouper.grow(tree.name[frames[0]], [...frames.keys()], frames, (_, member) => {
    const caller = parents[reached[member]];
    if (caller <= 0) return; /* the root stands for everything and calls nobody */
    reached[member] = caller;
    regrouper.offer(member, tree.name[caller], frames[member], tree.flags === null ? 0 : tree.flags[caller]);
  });
  return { ...grown, isInverted: true };
}
