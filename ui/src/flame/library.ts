// SPDX-License-Identifier: Apache-2.0
// Which library a function belongs to: of compiled code the file that it was loaded from, otherwise the package in its name.

import { moduleOf, packageOf } from "./colour.ts";
import { KINDS, type FlameTree } from "./tree.ts";

/** The name of the library of a name of the tree. */
export function libraryOf(tree: FlameTree, name: number): string {
  const kind = KINDS[tree.kinds[name]] ?? "";
  if (kind === "kernel") return "[kernel]";
  const isCompiled = kind === "" || kind === "native" || kind === "rust";
  const module = moduleOf(tree, name);
  return (isCompiled && module) || packageOf(tree, name) || module || (kind ? `[${kind}]` : "[unknown]");
}
