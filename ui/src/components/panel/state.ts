// SPDX-License-Identifier: Apache-2.0
// What the panel shows, all of it in the URL. What has its default value is not there.

import type { Sort } from "../VirtualTable.tsx";
import { childrenOf, nameOf, pathOf, type FlameTree } from "../../flame/tree.ts";
import type { Colouring, Direction } from "../../flame/view.ts";
import { pathTests, shortPath } from "../../lib/path.ts";
import { navigate, route, type Params } from "../../lib/route.ts";

export const shows = ["both", "flame", "table", "tree", "sandwich", "lines", "hints"] as const;
export type Show = (typeof shows)[number];

export interface PanelState {
  show: Show;
  zoom: string; // path of the frame that fills the width
  sel: string; // path of the selected frame; "" = none
  fn: string; // the function that was chosen by name: in the table, for the sandwich or the lines
  search: string;
  sort: string; // "-self": descending
  colour: Colouring | "";
  dir: Direction;
  hide: string;
  collapse: boolean;
  group: boolean;
  focus: string; // path below which the server was asked again
}

const colours: readonly string[] = ["package", "module", "kind", "diff", "heat"];

/** What the URL says. Call it while rendering: the component follows the URL then. */
export function readState(): PanelState {
  const { params } = route.value;
  const text = (name: string) => params.get(name) ?? "";
  const colour = text("colour");
  return {
    show: shows.find((one) => one === text("show")) ?? "both",
    zoom: text("zoom"), sel: text("sel"), fn: text("fn"), search: text("search"), sort: text("sort"),
    colour: colours.includes(colour) ? (colour as Colouring) : "",
    dir: text("dir") === "flame" ? "flame" : "icicle",
    hide: text("hide"), collapse: text("collapse") === "1", group: text("group") === "1", focus: text("focus"),
  };
}

const defaults: Record<string, string> = { show: "both", dir: "icicle" };

/** Puts changes into the URL; "replace" for what changes with every key or click. */
export function changeState(change: Partial<PanelState>, how: "push" | "replace" = "push"): void {
  const params: Params = {};
  for (const [name, value] of Object.entries(change)) {
    const text = typeof value === "boolean" ? (value ? "1" : "") : value;
    params[name] = text === defaults[name] ? null : text;
  }
  navigate({ params }, how);
}

/** The frame at the end of a path, or as far as the path exists; -1 for no path at all. */
export function resolvePath(tree: FlameTree, path: string): number {
  if (path === "") return -1;
  let node = 0;
  for (const isWanted of pathTests(path)) {
    const [first, end] = childrenOf(tree, node);
    let child = first;
    while (child < end && !isWanted(nameOf(tree, child))) child++;
    if (child === end) break;
    node = child;
  }
  return node;
}

/** Names from the one below the root to `node`. */
export function namesTo(tree: FlameTree, node: number): string[] {
  return pathOf(tree, node).slice(1).map((at) => nameOf(tree, at));
}

/** The path of a frame for the URL; "" for the root and for none. */
export function pathTo(tree: FlameTree, node: number): string {
  return node <= 0 ? "" : shortPath(namesTo(tree, node));
}

export function parseSort(text: string, fallback: Sort): Sort {
  if (!/^-?[a-z]+$/.test(text)) return fallback;
  return { id: text.replace("-", ""), isDescending: text.startsWith("-") };
}

export function sortText(sort: Sort): string {
  return (sort.isDescending ? "-" : "") + sort.id;
}
