// SPDX-License-Identifier: Apache-2.0
// Walking a flame graph by keys, and saying where one is.

import { type FlameTree, INLINED, OTHER, childrenOf, levelOf, nameOf, parentOf, selfOf, valueOf } from "./tree.ts";

export type Step = "parent" | "child" | "next" | "previous";

function widestChild(tree: FlameTree, node: number): number {
  const [first, end] = childrenOf(tree, node);
  let widest = first;
  for (let child = first; child < end; child++) if (tree.width[child] > tree.width[widest]) widest = child;
  return first < end ? widest : node;
}

/** The node a step leads to: the caller, its widest callee, or the next one of the same caller; the node itself if there is
 *  none. From no node (-1) every step leads to the root. */
export function stepFrom(tree: FlameTree, node: number, step: Step): number {
  if (node < 0) return 0;
  if (step === "child") return widestChild(tree, node);
  const parent = parentOf(tree, node);
  if (parent < 0) return node;
  if (step === "parent") return parent;
  const [first, end] = childrenOf(tree, parent);
  const sibling = node + (step === "next" ? 1 : -1);
  return sibling >= first && sibling < end ? sibling : node;
}

export type Meaning = Step | "root" | "enter" | "escape" | "zoom in" | "zoom out" | "all" | "menu";

/** What a key means on a graph whose root is at the top, or at the bottom; null if nothing. */
export function meaningOf(key: Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">, isFlame: boolean): Meaning | null {
  if (key.key === "ContextMenu" || (key.key === "F10" && key.shiftKey)) return "menu";
  if (key.ctrlKey || key.metaKey || key.altKey) return null;
  switch (key.key) {
    case "ArrowUp":
      return isFlame ? "child" : "parent";
    case "ArrowDown":
      return isFlame ? "parent" : "child";
    case "ArrowLeft":
      return "previous";
    case "ArrowRight":
      return "next";
    case "Home":
      return "root";
    case "Enter":
      return "enter";
    case "Escape":
      return "escape";
    case "+":
    case "=":
      return "zoom in";
    case "-":
      return "zoom out";
    case "0":
      return "all";
    default:
      return null;
  }
}

/** A number with its digits in threes. The browser's own way takes 30 ms to load when it is first used. */
export function grouped(value: number): string {
  const [whole, part] = String(value).split(".");
  return value >= 1e21 ? whole : `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${part ? `.${part}` : ""}`;
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return "0 %";
  const value = share * 100;
  return `${value >= 99.95 || value === 0 ? value.toFixed(0) : value >= 0.1 ? value.toFixed(1) : value.toPrecision(1)} %`;
}

/** A frame in words, for those who do not see it. */
export function describe(tree: FlameTree, node: number, format: (value: number) => string): string {
  const [first, end] = childrenOf(tree, node);
  const flags = tree.flags?.[node] ?? 0;
  const parts = [nameOf(tree, node).slice(0, 300)];
  if (flags & INLINED) parts.push("inlined");
  if (flags & OTHER) parts.push("stands for what was left out");
  if (tree.before) parts.push(`${tree.sides[0]} ${format(valueOf(tree, node, "before"))}`, `${tree.sides[1]} ${format(valueOf(tree, node, "after"))}`);
  else parts.push(format(valueOf(tree, node)), `own ${format(selfOf(tree, node))}`);
  parts.push(`${percent(tree.width[node] / tree.width[0])} of all`, `level ${levelOf(tree, node) + 1}`);
  parts.push(end - first === 1 ? "1 callee" : `${end - first} callees`);
  return `${parts.join(", ")}.`;
}
