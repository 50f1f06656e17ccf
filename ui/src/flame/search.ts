// SPDX-License-Identifier: Apache-2.0
// Which frames match, how much of the graph they are, and which is the next. A pattern is tried once for each name, not for
// each node. A regular expression cannot be interrupted, so parsePattern() refuses those that could take for ever, and only
// the first MAX_TESTED characters of a name are looked at.

import { type FlameTree, firstAfter, firstFrom, levelOf } from "./tree.ts";

export const MAX_PATTERN = 200;
export const MAX_TESTED = 256;
const MAX_REPEATS = 3;
const MAX_OPTIONAL = 10;

export type Pattern = { readonly pattern: RegExp } | { readonly problem: string };

/** How a pattern repeats things: with the lengths above this bounds the steps that a match takes. */
function repeatsIn(text: string): { nRepeats: number; nOptional: number; isNested: boolean } {
  const groups = [false]; /* for each open group, whether something in it varies */
  let [nRepeats, nOptional, isNested, closed] = [0, 0, false, false];
  const plain = text.replace(/\\./gs, "x").replace(/\[[^\]]*\]/g, "x");
  for (let i = 0; i < plain.length; i++) {
    const isBraced = /^\{\d*,?\d*\}/.exec(plain.slice(i, i + 12));
    const varies = closed;
    closed = false;
    if (plain[i] === "(") groups.push(false);
    else if (plain[i] === "|") groups[groups.length - 1] = true;
    else if (plain[i] === ")" && groups.length > 1) {
      closed = groups.pop()!;
      if (closed) groups[groups.length - 1] = true;
    } else if (plain[i] === "*" || plain[i] === "+" || isBraced) {
      nRepeats++;
      isNested ||= varies;
      groups[groups.length - 1] = true;
      if (isBraced) i += isBraced[0].length - 1;
      if (plain[i + 1] === "?") i++;
    } else if (plain[i] === "?" && plain[i - 1] !== "(") nOptional++;
  }
  return { nRepeats, nOptional, isNested };
}

/** A regular expression out of what was typed: upper case matters if there is any. What is no expression (the name of a
 *  function often is none) is looked for as it stands. */
export function parsePattern(text: string): Pattern {
  if (text.length > MAX_PATTERN) return { problem: `A search may have ${MAX_PATTERN} characters; this one has ${text.length}.` };
  const flags = /\p{Lu}/u.test(text.replace(/\\./gs, "")) ? "" : "i";
  let pattern;
  try {
    pattern = new RegExp(text, flags);
  } catch {
    return { pattern: new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), flags) };
  }
  const { nRepeats, nOptional, isNested } = repeatsIn(text);
  if (isNested) return { problem: "This search repeats something that itself repeats or has choices, which can take for ever. Repeat only plain things." };
  if (nRepeats > MAX_REPEATS || nOptional > MAX_OPTIONAL)
    return { problem: `This search could take for ever: use * and + at most ${MAX_REPEATS} times, and ? at most ${MAX_OPTIONAL} times.` };
  return { pattern };
}

/** Whether a bit of [from, to) is set. */
export function hasBit(bits: Uint32Array, from: number, to: number): boolean {
  const first = from >>> 5;
  const last = (to - 1) >>> 5;
  if (from >= to) return false;
  const head = -1 << (from & 31);
  const tail = -1 >>> (31 - ((to - 1) & 31));
  if (first === last) return (bits[first] & head & tail) !== 0;
  if ((bits[first] & head) !== 0 || (bits[last] & tail) !== 0) return true;
  for (let word = first + 1; word < last; word++) if (bits[word] !== 0) return true;
  return false;
}

/** The first bit set in [from, to), or `to`. */
function firstBit(bits: Uint32Array, from: number, to: number): number {
  for (let i = from; i < to; ) {
    const rest = bits[i >>> 5] >>> (i & 31);
    if (rest !== 0) return Math.min(to, i + 31 - Math.clz32(rest & -rest));
    i = ((i >>> 5) + 1) << 5;
  }
  return to;
}

/** The last bit set in [from, to), or from - 1. */
function lastBit(bits: Uint32Array, from: number, to: number): number {
  for (let i = to - 1; i >= from; ) {
    const rest = bits[i >>> 5] << (31 - (i & 31));
    if (rest !== 0) return Math.max(from - 1, i - Math.clz32(rest));
    i = ((i >>> 5) << 5) - 1;
  }
  return from - 1;
}

export class Search {
  readonly tree: FlameTree;
  /** A bit for each node: its name matches. */
  readonly hits: Uint32Array;
  readonly nHits: number;
  private covered: Uint32Array | null = null;

  constructor(tree: FlameTree, pattern: RegExp) {
    this.tree = tree;
    const isHit = new Uint8Array(tree.names.length);
    const tested = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")); /* without a memory between tests */
    tree.names.forEach((name, i) => {
      isHit[i] = tested.test(name.length > MAX_TESTED ? name.slice(0, MAX_TESTED) : name) ? 1 : 0;
    });
    const { name, n } = tree;
    this.hits = new Uint32Array((n + 31) >>> 5);
    let nHits = 0;
    for (let i = 0, word = 0; i < n; i = word << 5) {
      let bits = 0;
      for (const end = Math.min(n, i + 32), first = i; i < end; i++)
        if (isHit[name[i]] === 1) {
          bits |= 1 << (i - first);
          nHits++;
        }
      this.hits[word++] = bits;
    }
    this.nHits = nHits;
  }

  has(node: number): boolean {
    return node >= 0 && ((this.hits[node >>> 5] >>> (node & 31)) & 1) === 1;
  }

  /** What the frames found take of [v0, v1) of the layout. Frames within frames found count once. */
  share(v0 = 0, v1 = this.tree.width[0]): { value: number; share: number } {
    const { tree, hits } = this;
    const { left, width, levelStart } = tree;
    let level = 0;
    while (level < tree.depth && !hasBit(hits, levelStart[level], levelStart[level + 1])) level++;
    if (level === tree.depth || !(v1 > v0)) return { value: 0, share: 0 };
    /* Bits of nodes that match or lie within one that does. A bit of the first level with hits is its own. */
    const covered = (this.covered ??= new Uint32Array(hits.length)).fill(0);
    let sum = 0;
    for (let hasParents = false; level < tree.depth; level++, hasParents = true) {
      const start = levelStart[level];
      const end = firstFrom(left, start, levelStart[level + 1], v1);
      let i = Math.max(start, firstAfter(left, start, end, v0) - 1);
      let parent = hasParents ? Math.max(levelStart[level - 1], firstAfter(left, levelStart[level - 1], start, left[i]) - 1) : 0;
      for (; i < end; i++) {
        const isHit = (hits[i >>> 5] >>> (i & 31)) & 1;
        let isCovered = 0;
        if (hasParents) {
          const x = left[i];
          while (parent + 1 < start && left[parent + 1] <= x) parent++;
          isCovered = (covered[parent >>> 5] >>> (parent & 31)) & 1;
        }
        if (isHit > isCovered) sum += Math.max(0, Math.min(v1, left[i] + width[i]) - Math.max(v0, left[i]));
        if ((isHit | isCovered) !== 0) covered[i >>> 5] |= 1 << (i & 31);
      }
    }
    return { value: sum * tree.divisor, share: sum / (v1 - v0) };
  }

  /** The frame found after (1) or before (-1) `from`, by where it begins and then by level; around the ends; -1 if none. */
  next(from: number, direction: 1 | -1): number {
    const { tree } = this;
    if (this.nHits === 0) return -1;
    if (from < 0) return this.nearest(direction === 1 ? -1 : Infinity, 0, direction);
    const found = this.nearest(tree.left[from], levelOf(tree, from), direction);
    return found >= 0 ? found : this.nearest(direction === 1 ? -1 : Infinity, 0, direction);
  }

  /** The frame found that is nearest behind (or before) the place x, level. */
  private nearest(x: number, level: number, direction: 1 | -1): number {
    const { tree, hits } = this;
    const { left, levelStart } = tree;
    let best = -1;
    for (let at = 0; at < tree.depth; at++) {
      const start = levelStart[at];
      const end = levelStart[at + 1];
      if (direction === 1) {
        const from = at > level ? firstFrom(left, start, end, x) : firstAfter(left, start, end, x);
        const hit = firstBit(hits, from, end);
        if (hit < end && (best < 0 || left[hit] < left[best])) best = hit;
      } else {
        const to = at < level ? firstAfter(left, start, end, x) : firstFrom(left, start, end, x);
        const hit = lastBit(hits, start, to);
        if (hit >= start && (best < 0 || left[hit] >= left[best])) best = hit;
      }
    }
    return best;
  }
}
