// SPDX-License-Identifier: Apache-2.0
// A trace as a tree of rows: who is below whom, what is shown while some are closed, who matches a search, and which spans the
// trace as a whole waited for.

import type { Attribute, Span, Trace } from "../../api/traces.ts";

export interface SpanTree {
  readonly spans: readonly Span[];
  readonly parent: Int32Array; // -1 for roots
  readonly end: Uint32Array; // behind the last span below each; its own number + 1 for those without any
  readonly byId: ReadonlyMap<string, number>;
  readonly lengthNs: number; // until the last of them ends, at least 1
}

export function treeOf(trace: Trace): SpanTree {
  const { spans } = trace;
  const parent = new Int32Array(spans.length);
  const end = new Uint32Array(spans.length);
  const byId = new Map<string, number>();
  const open: number[] = [];
  let until = Math.max(1, trace.duration_ns);
  for (let i = 0; i < spans.length; i++) {
    while (open.length > 0 && spans[open[open.length - 1]].depth >= spans[i].depth) end[open.pop()!] = i;
    parent[i] = open.length > 0 ? open[open.length - 1] : -1;
    open.push(i);
    byId.set(spans[i].span_id, i);
    until = Math.max(until, spans[i].offset_ns + spans[i].duration_ns);
  }
  for (const i of open) end[i] = spans.length;
  return { spans, parent, end, byId, lengthNs: until };
}

export function nBelow(tree: SpanTree, span: number): number {
  return tree.end[span] - span - 1;
}

/** Spans to be shown, in order: all but those below closed ones. */
export function shownRows(tree: SpanTree, isClosed: (span: number) => boolean): Uint32Array {
  const rows = new Uint32Array(tree.spans.length);
  let n = 0;
  for (let i = 0; i < tree.spans.length; i = isClosed(i) ? tree.end[i] : i + 1) rows[n++] = i;
  return rows.slice(0, n);
}

/** Where a span is among the shown ones; where the closed one above it is if it is not shown; -1 if there are none. */
export function rowOf(rows: Uint32Array, span: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] <= span) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** All that must be open for a span to be seen. */
export function above(tree: SpanTree, span: number): number[] {
  const found: number[] = [];
  for (let at = tree.parent[span]; at >= 0; at = tree.parent[at]) found.push(at);
  return found;
}

/* --- what is closed, as the URL has it --- */

/** Spans that are the other way round than `isAllClosed` says. */
export interface Closing {
  isAllClosed: boolean;
  toggled: ReadonlySet<string>;
}

/** "" = all open; "ID,ID" = those closed; "all,ID" = all closed but those. */
export function parseClosing(text: string): Closing {
  const words = text.split(",").filter((word) => word !== "");
  return { isAllClosed: words[0] === "all", toggled: new Set(words.filter((word) => word !== "all")) };
}

export function printClosing({ isAllClosed, toggled }: Closing): string {
  return [...(isAllClosed ? ["all"] : []), ...toggled].join(",");
}

export function isClosed(tree: SpanTree, closing: Closing, span: number): boolean {
  return tree.end[span] > span + 1 && closing.isAllClosed !== closing.toggled.has(tree.spans[span].span_id);
}

/** The same with these spans open or closed. */
export function withClosed(tree: SpanTree, closing: Closing, spans: readonly number[], closed: boolean): Closing {
  const toggled = new Set(closing.toggled);
  for (const span of spans) {
    if (closed === closing.isAllClosed) toggled.delete(tree.spans[span].span_id);
    else toggled.add(tree.spans[span].span_id);
  }
  return { ...closing, toggled };
}

/* --- searching --- */

export function valueText(value: Attribute["value"]): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
}

function textsOf(span: Span): string {
  const attributes = span.attributes.map(({ key, value }) => `${key}=${valueText(value)}`);
  const events = span.events.map((event) => event.name);
  return [span.operation, span.service, span.span_id, span.message, span.kind, ...attributes, ...events].join("\n").toLowerCase();
}

/** The spans that have the text anywhere: names, ids, attributes as key=value, messages, events. Empty text finds nothing. */
export class SpanSearch {
  private texts: string[] | null = null;
  constructor(private readonly tree: SpanTree) {}

  find(text: string): number[] {
    const wanted = text.trim().toLowerCase();
    if (wanted === "") return [];
    this.texts ??= this.tree.spans.map(textsOf);
    const found: number[] = [];
    for (let i = 0; i < this.texts.length; i++) if (this.texts[i].includes(wanted)) found.push(i);
    return found;
  }
}

/** The next of some sorted spans in a direction, around the end. */
export function nextOf(found: readonly number[], from: number, direction: 1 | -1): number {
  if (found.length === 0) return -1;
  if (direction > 0) return found.find((span) => span > from) ?? found[0];
  return found.findLast((span) => span < from) ?? found[found.length - 1];
}

/* --- what took so long --- */

/** A stretch of time in which the trace waited for a span itself, not for one below it. */
export interface Stretch {
  span: number;
  fromNs: number;
  untilNs: number;
}

/** Stretches by the span that they are of. */
export function bySpan(path: readonly Stretch[]): ReadonlyMap<number, readonly Stretch[]> {
  const groups = new Map<number, Stretch[]>();
  for (const one of path) {
    const group = groups.get(one.span);
    if (group) group.push(one);
    else groups.set(one.span, [one]);
  }
  return groups;
}

interface Waiting {
  span: number;
  endNs: number; // what is behind is not its parent's any more
  untilNs: number; // how far back the walk has come
  children: number[]; // those that end last at the end
}

function endOf(tree: SpanTree, span: number): number {
  return tree.spans[span].offset_ns + tree.spans[span].duration_ns;
}

function waitingFor(tree: SpanTree, span: number, endNs: number): Waiting {
  const children: number[] = [];
  for (let at = span + 1; at < tree.end[span]; at = tree.end[at]) children.push(at);
  children.sort((a, b) => endOf(tree, a) - endOf(tree, b));
  return { span, endNs, untilNs: endNs, children };
}

/** The stretches that add up to the duration of the longest root: walking back from its end, always into the span that ended
 * last before. Making any of them shorter makes the whole shorter, until another one is in its place. */
export function criticalPath(tree: SpanTree): Stretch[] {
  const stretches: Stretch[] = [];
  let root = -1;
  for (let i = 0; i < tree.spans.length; i = tree.end[i]) {
    if (root < 0 || tree.spans[i].duration_ns > tree.spans[root].duration_ns) root = i;
  }
  const add = ({ span, untilNs }: Waiting, fromNs: number) => {
    if (untilNs > fromNs) stretches.push({ span, fromNs, untilNs });
  };
  /* By hand instead of by recursion: traces can be deeper than the stack of the browser. */
  const open = root < 0 ? [] : [waitingFor(tree, root, endOf(tree, root))];
  while (open.length > 0) {
    const at = open[open.length - 1];
    const startNs = tree.spans[at.span].offset_ns;
    const child = at.children.pop();
    if (child === undefined) {
      add(at, startNs);
      open.pop();
      const up = open[open.length - 1];
      if (up) up.untilNs = Math.max(startNs, tree.spans[up.span].offset_ns);
      continue;
    }
    const childEnd = Math.min(endOf(tree, child), at.endNs);
    const childStart = Math.max(tree.spans[child].offset_ns, startNs);
    if (childEnd > at.untilNs || childStart >= childEnd) continue; /* at the same time as what was waited for */
    add(at, childEnd);
    open.push(waitingFor(tree, child, childEnd));
  }
  return stretches;
}
