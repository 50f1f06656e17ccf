// SPDX-License-Identifier: Apache-2.0
// Where things stand in a waterfall: the part of the time that is shown, ticks of its ruler, and the parts of a span's bar.

import type { Span } from "../../api/traces.ts";
import type { Range } from "../../flame/range.ts";

export const ROW_HEIGHT = 26;

/** The parts of a bar, in the order in which they fill it. */
export const partKinds = ["cpu", "off-cpu", "unknown", "children"] as const;
export type PartKind = (typeof partKinds)[number];

export const partTitles: Record<PartKind, string> = {
  cpu: "On CPU", "off-cpu": "Off CPU", unknown: "Unknown", children: "Spans below",
};
export const partHints: Record<PartKind, string> = {
  cpu: "Samples of this span's own profile were running.",
  "off-cpu": "Samples of this span's own profile were waiting.",
  unknown: "Neither a sample nor a span below says what went on: waiting, or work that was not sampled.",
  children: "Time that the spans below it cover.",
};

/** What each part is of a span, in nanoseconds. */
export function partsOf({ latency }: Span): { kind: PartKind; ns: number }[] {
  const ns: Record<PartKind, number> = {
    cpu: latency.cpu_ns, "off-cpu": latency.off_cpu_ns ?? 0, unknown: latency.unknown_ns, children: latency.children_ns,
  };
  return partKinds.map((kind) => ({ kind, ns: ns[kind] }));
}

export interface Placed {
  left: number; // pixels from the left edge of the time
  width: number;
}

/** Where a time stands, in pixels. */
export function placeOf(ns: number, range: Range, width: number): number {
  return ((ns - range.v0) / (range.v1 - range.v0)) * width;
}

/* Beyond this, edges and corners are out of sight; browsers lose precision with pixels in the millions. */
const MARGIN = 16;

/** A stretch of time in pixels, at least `least` wide; null if it is out of sight. */
export function placed(fromNs: number, untilNs: number, range: Range, width: number, least = 0): Placed | null {
  const left = placeOf(fromNs, range, width);
  const right = Math.max(placeOf(untilNs, range, width), left + least);
  if (right < 0 || left > width || Number.isNaN(left + right)) return null;
  const from = Math.max(-MARGIN, left);
  return { left: from, width: Math.min(width + MARGIN, right) - from };
}

export interface PlacedPart extends Placed {
  kind: PartKind;
}

/** The parts of a bar that are in sight; none of a span whose time was not told apart. */
export function placedParts(span: Span, range: Range, width: number): PlacedPart[] {
  const found: PlacedPart[] = [];
  let from = span.offset_ns;
  for (const { kind, ns } of partsOf(span)) {
    if (!(ns > 0)) continue;
    const place = placed(from, from + ns, range, width);
    if (place && place.width >= 0.5) found.push({ kind, ...place });
    from += ns;
  }
  return found;
}

/** Round times for a ruler of some width, about `wanted` pixels apart. */
export function ticksOf(range: Range, width: number, wanted = 110): number[] {
  const length = range.v1 - range.v0;
  if (!(length > 0) || width <= 0) return [];
  const least = (length * wanted) / width;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= least * 0.999)!;
  const ticks: number[] = [];
  for (let at = Math.ceil(range.v0 / step - 1e-9) + 0; at * step <= range.v1 * (1 + 1e-12) && ticks.length < 100; at++) ticks.push(at * step);
  return ticks;
}

const indentStep = 14;

/** How far a name stands in. Deep ones share the last place: in `room` pixels there is none for a thousand levels. */
export function indentOf(depth: number, room: number): number {
  return Math.min(depth * indentStep, Math.max(0, Math.floor(room * 0.5)));
}

/** Rows of some height in sight, with a few more on either side. */
export function rowsInSight(scrollTop: number, height: number, rowHeight: number, nRows: number, extra = 6): [first: number, end: number] {
  const first = Math.max(0, Math.min(nRows, Math.floor(scrollTop / rowHeight) - extra));
  return [first, Math.max(first, Math.min(nRows, Math.ceil((scrollTop + height) / rowHeight) + extra))];
}

/** The text of a range for the URL, in nanoseconds, and back; null where it is all there is or makes no sense. */
export function printWindow(range: Range, whole: Range): string | null {
  return range.v0 <= whole.v0 && range.v1 >= whole.v1 ? null : `${Math.floor(range.v0)}-${Math.ceil(range.v1)}`;
}

export function parseWindow(text: string, whole: Range): Range {
  const [, from, until] = /^(\d{1,19})-(\d{1,19})$/.exec(text) ?? [];
  if (from === undefined) return whole;
  const v0 = Math.max(whole.v0, Number(from));
  const v1 = Math.min(whole.v1, Number(until));
  return v1 > v0 ? { v0, v1 } : whole;
}
