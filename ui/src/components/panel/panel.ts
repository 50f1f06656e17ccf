// SPDX-License-Identifier: Apache-2.0
// What the parts of the panel share: the tree that is shown, where it comes from, and what can be done with it.

import type { FunctionRow } from "../../flame/aggregate.ts";
import type { FlameTree } from "../../flame/tree.ts";
import type { PanelState } from "./state.ts";
import type { ProfileSource } from "./source.ts";

export interface Panel {
  /** As it came from the server, and as it is shown: with frames hidden, recursion collapsed, libraries put together. */
  base: FlameTree;
  tree: FlameTree;
  source: ProfileSource;
  state: PanelState;
  /** Nodes of `tree` for the paths of the state: 0 and -1 where there are none. */
  zoom: number;
  selected: number;
  /** What is searched for, or null. */
  pattern: RegExp | null;
  /** The function that is meant: chosen by name, or that of the selected frame; "" if none is. */
  chosen: string;
  /** All functions of `tree`; computed when first asked for. */
  rows: () => readonly FunctionRow[];
  change: (change: Partial<PanelState>, how?: "push" | "replace") => void;
  /** Opens the menu of a frame of any tree that is shown. */
  menu: (tree: FlameTree, node: number, x: number, y: number) => void;
  point: (tree: FlameTree, node: number, x: number, y: number) => void;
}
