// SPDX-License-Identifier: Apache-2.0
// Which library a function belongs to: of compiled code the file that it was loaded from, otherwise the package in its name. A
// program in Go is one file, so there the package counts, which its import path tells even where the kind is not known.

import { moduleOf, packageOf } from "./colour.ts";
import { KINDS, type FlameTree } from "./tree.ts";

/** The name of the library of a name of the tree. */
export function libraryOf(tree: FlameTree, name: number): string {
  const kind = KINDS[tree.kinds[name]] ?? "";
  if (kind === "kernel") return "[kernel]";
  const module = moduleOf(tree, name);
  const inName = packageOf(tree, name);
  const isCompiled = (kind === "" || kind === "native" || kind === "rust") && !inName.includes("/");
  return (isCompiled && module) || inName || module || (kind ? `[${kind}]` : "[unknown]");
}
