// SPDX-License-Identifier: Apache-2.0
// The table of functions: what each costs itself and with all that it calls. A function that calls itself is counted once.

import { childStartsOf, functionsOf, isOther } from "./structure.ts";
import type { FlameTree } from "./tree.ts";

/** True values. Of a diff `self` and `total` are those before, and the values after are multiplied by the factor. */
export interface FunctionRow {
  name: number; // of the tree: the first with this text
  text: string;
  isOther: boolean; // what was cut, not a function
  self: number;
  total: number;
  selfAfter: number;
  totalAfter: number;
  widest: number; // its frame that costs most
}

/** Sums by name, with one more than there are names: what was cut. In units of `divisor`. */
interface Sums {
  self: Float64Array;
  total: Float64Array;
  selfAfter: Float64Array;
  totalAfter: Float64Array;
  widest: Int32Array;
}

/** Walks the tree from caller to callee, knowing at each frame which functions are open, so that the total of a function
 *  within itself is not counted again. */
function sumByFunction(tree: FlameTree, functions: Uint32Array): Sums {
  const { name, width, after, depth } = tree;
  const first = tree.before ?? tree.values ?? width;
  const nRows = tree.names.length + 1;
  const make = () => new Float64Array(nRows);
  const sums: Sums = { self: make(), total: make(), selfAfter: make(), totalAfter: make(), widest: new Int32Array(nRows).fill(-1) };
  const { self, total, selfAfter, totalAfter, widest } = sums;
  const starts = childStartsOf(tree);
  const nOpen = new Uint32Array(nRows);
  const rows = new Uint32Array(depth);
  const cursors = new Uint32Array(depth);
  const ends = new Uint32Array(depth);
  const rowOf = (node: number) => (isOther(tree, node) ? nRows - 1 : functions[name[node]]);
  cursors[0] = starts[0];
  ends[0] = starts[1];
  rows[0] = rowOf(0);
  self[rows[0]] += first[0];
  if (after) selfAfter[rows[0]] += after[0];
  for (let level = 0; level >= 0; ) {
    if (cursors[level] === ends[level]) {
      if (level > 0) nOpen[rows[level]]--;
      level--;
      continue;
    }
    const child = cursors[level]++;
    const row = rowOf(child);
    const caller = rows[level];
    self[row] += first[child];
    self[caller] -= first[child];
    if (after) {
      selfAfter[row] += after[child];
      selfAfter[caller] -= after[child];
    }
    if (nOpen[row]++ === 0) {
      total[row] += first[child];
      if (after) totalAfter[row] += after[child];
    }
    if (widest[row] < 0 || width[child] > width[widest[row]]) widest[row] = child;
    level++;
    rows[level] = row;
    cursors[level] = starts[child];
    ends[level] = starts[child + 1];
  }
  return sums;
}

/** A row for each function that costs anything, in no particular order. The root is none of them. */
export function functionRows(tree: FlameTree): FunctionRow[] {
  const sums = sumByFunction(tree, functionsOf(tree.names));
  const { divisor } = tree;
  /* Sums of what was multiplied by a factor are off by a little. */
  const clean = (self: number, total: number) => (Math.abs(self) <= Math.abs(total) * 1e-9 ? 0 : self * divisor);
  const nNames = tree.names.length;
  const rows: FunctionRow[] = [];
  for (let i = 0; i <= nNames; i++) {
    const widest = sums.widest[i];
    if (widest < 0) continue;
    rows.push({
      name: i < nNames ? i : tree.name[widest], text: i < nNames ? tree.names[i] : "other (cut)", isOther: i === nNames, widest,
      self: clean(sums.self[i], sums.total[i]), total: sums.total[i] * divisor,
      selfAfter: clean(sums.selfAfter[i], sums.totalAfter[i]), totalAfter: sums.totalAfter[i] * divisor,
    });
  }
  return rows;
}

export type SortKey = "name" | "self" | "total" | "before" | "after" | "change" | "relative";

/** What a row is sorted by. Changes count by their size, as what shrank most matters as much as what grew most. */
function sortValue(tree: FlameTree, row: FunctionRow, key: SortKey): number {
  switch (key) {
    case "self": return tree.before ? Math.abs(row.selfAfter - row.self) : row.self;
    case "before": return row.total;
    case "after": return row.totalAfter;
    case "change": return Math.abs(row.totalAfter - row.total);
    case "relative": return row.total === 0 ? Infinity : (row.totalAfter - row.total) / row.total;
    default: return row.total + row.totalAfter;
  }
}

export function sortRows(tree: FlameTree, rows: readonly FunctionRow[], key: SortKey, isDescending: boolean): FunctionRow[] {
  const sign = isDescending ? -1 : 1;
  const byName = (a: FunctionRow, b: FunctionRow) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
  if (key === "name") return [...rows].sort((a, b) => sign * byName(a, b));
  const values = new Map(rows.map((row) => [row, sortValue(tree, row, key)]));
  return [...rows].sort((a, b) => {
    const [x, y] = [values.get(a)!, values.get(b)!];
    return x === y ? byName(a, b) : sign * (x < y ? -1 : 1);
  });
}

function csvText(text: string): string {
  /* A sheet takes what begins like a formula for one. */
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Without the digits that scaling by a fraction leaves behind. */
const exact = (value: number) => (Number.isInteger(value) ? value : Number(value.toPrecision(12)));

/** The rows as RFC 4180 has it, with a line of headings. */
export function csvOf(tree: FlameTree, rows: readonly FunctionRow[]): string {
  const isDiff = tree.before !== null;
  const unit = tree.unit;
  const head = isDiff
    ? ["function", ...["self", "total"].flatMap((what) => tree.sides.map((side) => `${what} ${side} (${unit})`)), `change (${unit})`]
    : ["function", `self (${unit})`, `total (${unit})`];
  const lines = [[...head, "module", "file", "line"].join(",")];
  for (const row of rows) {
    const numbers = isDiff
      ? [row.self, row.selfAfter, row.total, row.totalAfter, row.totalAfter - row.total]
      : [row.self, row.total];
    const place = [tree.texts[tree.modules[row.name]] ?? "", tree.texts[tree.files[row.name]] ?? "", tree.lines[row.name] || ""];
    lines.push([csvText(row.text), ...numbers.map(exact), ...place.map(String).map(csvText)].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
