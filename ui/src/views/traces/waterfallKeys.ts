// SPDX-License-Identifier: Apache-2.0
// What keys do on a waterfall.

import { zoomRange, type Range } from "../../flame/range.ts";
import { nBelow, type SpanTree } from "./spans.ts";
import type { Rows } from "./useRows.ts";

export interface WaterfallActions {
  select: (span: number) => void;
  show: (range: Range) => void;
  toSpan: (span: number) => void;
  toggleFlame: () => void;
}

export interface WaterfallPlace {
  tree: SpanTree;
  rows: Rows;
  active: number; // the row of the chosen span, -1 = none
  pageRows: number;
  range: Range;
  whole: Range;
}

/** Where a key leads to, as a row; null for keys that do not walk. */
function rowFor(key: string, { active, pageRows, rows: { rows } }: WaterfallPlace): number | null {
  switch (key) {
    case "ArrowDown": return active + 1;
    case "ArrowUp": return active - 1;
    case "PageDown": return active + pageRows;
    case "PageUp": return active - pageRows;
    case "Home": return 0;
    case "End": return rows.length - 1;
    default: return null;
  }
}

function zoomFor(key: string, { tree, rows: { rows }, active, range, whole }: WaterfallPlace): Range | null {
  if (key === "0" || key === "Escape") return range.v0 > 0 || range.v1 < whole.v1 ? whole : null;
  const factor = key === "+" || key === "=" ? 0.5 : key === "-" ? 2 : 0;
  if (factor === 0) return null;
  const span = active < 0 ? null : tree.spans[rows[active]];
  const middle = span ? span.offset_ns + span.duration_ns / 2 : (range.v0 + range.v1) / 2;
  return zoomRange(range, Math.min(1, Math.max(0, (middle - range.v0) / (range.v1 - range.v0))), factor, whole.v1);
}

/** Does what a key means; whether it means anything. */
export function pressKey(key: string, place: WaterfallPlace, actions: WaterfallActions): boolean {
  const { tree, rows, active } = place;
  const row = rowFor(key, place);
  const zoom = zoomFor(key, place);
  if (row !== null) {
    if (rows.rows.length > 0) actions.select(rows.rows[Math.max(0, Math.min(rows.rows.length - 1, row))]);
    return true;
  }
  if (zoom) {
    actions.show(zoom);
    return true;
  }
  if (active < 0) return false;
  const span = rows.rows[active];
  const hasBelow = nBelow(tree, span) > 0;
  const isClosed = hasBelow && rows.isClosed(span);
  if (key === "ArrowRight" && isClosed) rows.setClosed([span], false);
  else if (key === "ArrowRight" && hasBelow) actions.select(span + 1);
  else if (key === "ArrowLeft" && hasBelow && !isClosed) rows.setClosed([span], true);
  else if (key === "ArrowLeft" && tree.parent[span] >= 0) actions.select(tree.parent[span]);
  else if (key === "Enter") actions.toggleFlame();
  else if (key === "z") actions.toSpan(span);
  else return false;
  return true;
}
