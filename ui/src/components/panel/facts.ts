// SPDX-License-Identifier: Apache-2.0
// What there is to say about a frame or a function, for the tooltip, the line of details and the table.

import { changeInErrors, SIGNIFICANT, standardError } from "../../flame/chance.ts";
import { INLINED, isDiff, KINDS, nameOf, OTHER, parentOf, PARTLY_INLINED, selfOf, valueOf, type FlameTree } from "../../flame/tree.ts";
import { capitalised, formatDelta, formatShare, formatValue } from "../../lib/format.ts";

/** A value in a table: nothing is a plain 0. */
export function amount(tree: FlameTree, value: number): string {
  return value === 0 ? "0" : formatValue(value, tree.unit);
}

export interface Fact {
  label: string;
  text: string;
  tone?: "more" | "less" | undefined;
}

/** " ± 12 ms", or "" where the raw samples are unknown or too many to matter. */
function errorText(tree: FlameTree, value: number, column = 0): string {
  const error = standardError(tree, value, column);
  return error === null || error === 0 ? "" : ` ± ${formatValue(error, tree.unit)}`;
}

/** "± 5.1 %": the standard error in relation to the value. */
export function relativeErrorText(tree: FlameTree, value: number): string {
  const error = standardError(tree, value);
  return error === null || value === 0 ? "" : `± ${formatShare(error / Math.abs(value))}`;
}

export function changeText(before: number, after: number): string {
  if (before === after) return "";
  return before === 0 ? "new" : after === 0 ? "gone" : `${after > before ? "+" : "−"}${formatShare(Math.abs((after - before) / before))}`;
}

/** Whether chance alone may have made the change; null if that cannot be told. */
export function isNoise(tree: FlameTree, before: number, after: number): boolean | null {
  const errors = changeInErrors(tree, before, after);
  return errors === null ? null : Math.abs(errors) <= SIGNIFICANT;
}

const share = (part: number, whole: number) => formatShare(whole === 0 ? 0 : part / whole);

function valuesOf(tree: FlameTree, node: number): Fact[] {
  const total = valueOf(tree, node);
  const parent = parentOf(tree, node);
  const facts = [
    { label: "Total", text: formatValue(total, tree.unit) + errorText(tree, total) },
    { label: "Self", text: formatValue(selfOf(tree, node), tree.unit) + errorText(tree, selfOf(tree, node)) },
    { label: "Of all", text: share(tree.width[node], tree.width[0]) },
  ];
  if (parent > 0) facts.push({ label: "Of its caller", text: share(tree.width[node], tree.width[parent]) });
  return facts;
}

function changesOf(tree: FlameTree, node: number): Fact[] {
  const before = valueOf(tree, node, "before");
  const after = valueOf(tree, node, "after");
  const change = after - before;
  const tone = change > 0 ? "more" : change < 0 ? "less" : undefined;
  const relative = changeText(before, after);
  const facts: Fact[] = [
    { label: capitalised(tree.sides[0]), text: `${formatValue(before, tree.unit)}${errorText(tree, before, 0)} (${share(before, tree.totals[0])} of all)` },
    { label: capitalised(tree.sides[1]), text: `${formatValue(after, tree.unit)}${errorText(tree, after, 1)} (${share(after, tree.totals[1] * tree.factor)} of all)` },
    { label: "Change", text: formatDelta(change, tree.unit) + (relative ? ` (${relative})` : ""), tone },
    { label: "Self", text: `${formatDelta(selfOf(tree, node, "after") - selfOf(tree, node, "before"), tree.unit)} of its own` },
  ];
  const noise = isNoise(tree, before, after);
  if (noise !== null && change !== 0) facts.push({ label: "Surely", text: noise ? "no: chance alone may do this" : "yes: more than chance does" });
  return facts;
}

/** Where a function is: file:line, module, kind. */
function placesOf(tree: FlameTree, name: number): Fact[] {
  const file = tree.texts[tree.files[name]] ?? "";
  const module = tree.texts[tree.modules[name]] ?? "";
  const kind = KINDS[tree.kinds[name]] ?? "";
  const facts: Fact[] = [];
  if (file) facts.push({ label: "File", text: tree.lines[name] ? `${file}:${tree.lines[name]}` : file });
  if (module) facts.push({ label: "Module", text: module });
  if (kind) facts.push({ label: "Kind", text: kind });
  return facts;
}

function marksOf(tree: FlameTree, node: number): Fact[] {
  const flags = tree.flags?.[node] ?? 0;
  if (flags & OTHER) return [{ label: "Note", text: "small frames put together; focus on the caller to see them" }];
  if (flags & INLINED) return [{ label: "Inlined", text: "into its caller" }];
  if (flags & PARTLY_INLINED) return [{ label: "Inlined", text: "in some places" }];
  return [];
}

export function factsOf(tree: FlameTree, node: number): Fact[] {
  return [...(isDiff(tree) ? changesOf(tree, node) : valuesOf(tree, node)), ...placesOf(tree, tree.name[node]), ...marksOf(tree, node)];
}

/** The facts in one line. */
export function lineOf(tree: FlameTree, node: number): string {
  const facts = factsOf(tree, node).map((fact) => `${fact.label.toLowerCase()} ${fact.text}`);
  return `${nameOf(tree, node)}: ${facts.join(", ")}`;
}
