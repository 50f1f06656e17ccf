// SPDX-License-Identifier: Apache-2.0
// What a flame graph is told when it is made, and what it tells.

import type { Colouring, Theme } from "./colour.ts";
import type { FlameTree } from "./tree.ts";

export type Direction = "icicle" | "flame";

/** What a search found within what is shown. */
export interface Searched {
  /** Value of the frames found, each part of the graph counted once, and its share of what is shown. */
  value: number;
  share: number;
  /** Frames found in the whole graph. */
  nHits: number;
}

export interface FlameEvents {
  /** Another frame spans what is shown; 0 when everything is. */
  zoom?(node: number): void;
  /** The pointer is over a frame (or none: -1), at x and y of the window. */
  hover?(node: number, x: number, y: number): void;
  /** Somebody selected a frame (or none: -1). */
  select?(node: number): void;
  /** The menu of a frame (or none: -1) is asked for, at x and y of the window. */
  menu?(node: number, x: number, y: number): void;
  /** Null when there is no search. */
  searched?(result: Searched | null): void;
}

export interface FlameOptions {
  tree: FlameTree;
  theme?: Theme;
  colour: Colouring;
  direction: Direction;
  /** Without animation. */
  isReduced: boolean;
  /** Whether the whole graph is shown small above it; so unless told. */
  hasOverview?: boolean;
  /** Writes a value for the text told to screen readers and into SVG. */
  format?(value: number): string;
  on: FlameEvents;
}
