// SPDX-License-Identifier: Apache-2.0
// The flame graph as people see and use it. (Signatures; the drawing follows.)

import type { FlameTree } from "./tree.ts";

export type Colouring = "package" | "module" | "kind" | "diff" | "heat";
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
  /** The frame that fills the width changed. */
  zoom?(node: number): void;
  /** The pointer is over a frame (or none: -1), at x and y of the window. */
  hover?(node: number, x: number, y: number): void;
  select?(node: number): void;
  menu?(node: number, x: number, y: number): void;
  /** Null when there is no search. */
  searched?(result: Searched | null): void;
}

export interface FlameOptions {
  tree: FlameTree;
  theme: "light" | "dark";
  colour: Colouring;
  direction: Direction;
  isReduced: boolean;
  /** Writes a value for the text told to screen readers. */
  format?(value: number): string;
  on: FlameEvents;
}

export declare class FlameView {
  constructor(host: HTMLElement, options: FlameOptions);
  setTree(tree: FlameTree, keepsZoom: boolean): void;
  setColour(colour: Colouring): void;
  setTheme(theme: "light" | "dark"): void;
  setDirection(direction: Direction): void;
  setReduced(isReduced: boolean): void;
  /** Lights the frames whose names match; null ends the search. */
  setSearch(pattern: RegExp | null): void;
  /** Goes to the next (1) or previous (-1) frame found, and selects it; returns it, or -1. */
  nextHit(direction: 1 | -1): number;
  /** Node that fills the width; 0 shows everything. */
  zoomTo(node: number): void;
  readonly zoomed: number;
  /** Selects a frame and scrolls to it; -1 selects none. */
  select(node: number): void;
  readonly selected: number;
  /** Pixels that the graph would need to be seen without scrolling, the overview included. */
  readonly contentHeight: number;
  focus(): void;
  toPNG(): Promise<Blob>;
  toSVG(): string;
  destroy(): void;
}
