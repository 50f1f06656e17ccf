// SPDX-License-Identifier: Apache-2.0
// Builds flame trees in pre-order: enter a node, its children, leave it. Made for trees that are derived from others
// (callers, callees, parts, collapsed recursion), which share the names of the tree they come from.

import { BEFORE_AFTER, type Column, type FlameTree } from "./tree.ts";

/** What a new tree takes over from the one that it is derived from. */
export type TreeFrame = Pick<
  FlameTree,
  | "names"
  | "kinds"
  | "modules"
  | "files"
  | "lines"
  | "texts"
  | "unit"
  | "divisor"
  | "factor"
  | "isInverted"
  | "samples"
  | "before"
  | "sides"
>;

/** Numbers that grow as they come, with a typed array below them. */
class Numbers {
  array = new Float64Array(1024);
  n = 0;

  push(value: number): void {
    if (this.n === this.array.length) {
      const grown = new Float64Array(this.n * 2);
      grown.set(this.array);
      this.array = grown;
    }
    this.array[this.n++] = value;
  }
}

export interface NameDetails {
  kind?: number;
  module?: number;
  file?: number;
  line?: number;
}

export class TreeBuilder {
  private readonly frame: TreeFrame;
  private readonly isDiff: boolean;
  private readonly extra: { text: string; details: NameDetails }[] = [];
  private readonly depths = new Numbers();
  private readonly nameColumn = new Numbers();
  private readonly flagColumn = new Numbers();
  private readonly lefts = new Numbers();
  private readonly widths = new Numbers();
  private readonly befores = new Numbers();
  private readonly afters = new Numbers();
  private readonly open: number[] = [];
  private x = 0;
  private isSigned = false;
  private isWhole = true;

  /** `frame` is the tree that names come from; with `before` set a diff is built. */
  constructor(frame: TreeFrame) {
    this.frame = frame;
    this.isDiff = frame.before !== null;
  }

  /** Adds a name that the source does not have; the number is for enter(). */
  addName(text: string, details: NameDetails = {}): number {
    this.extra.push({ text, details });
    return this.frame.names.length + this.extra.length - 1;
  }

  enter(name: number, flags = 0): void {
    if (this.open.length === 0 && this.depths.n > 0) throw new Error("a flame tree has one root");
    this.open.push(this.depths.n);
    this.depths.push(this.open.length - 1);
    this.nameColumn.push(name);
    this.flagColumn.push(flags);
    this.lefts.push(this.x);
    this.widths.push(0);
    this.befores.push(0);
    this.afters.push(0);
  }

  /** Leaves the node with its own value (of a diff: before, and after already multiplied), in units of `divisor`. A node
   *  without anything in or below it is left out. */
  leave(self: number, after = 0): void {
    const node = this.open.pop();
    if (node === undefined) throw new Error("no node is open");
    this.x += Math.abs(self) + Math.abs(after);
    this.isSigned ||= self < 0 || after < 0;
    this.isWhole &&= Number.isInteger(self) && Number.isInteger(after);
    const width = this.x - this.lefts.array[node];
    if (width === 0 && node > 0) {
      this.dropLast();
      return;
    }
    this.widths.array[node] = width;
    this.befores.array[node] += self;
    this.afters.array[node] += after;
    const parent = this.open.at(-1);
    if (parent === undefined) return;
    this.befores.array[parent] += this.befores.array[node];
    this.afters.array[parent] += this.afters.array[node];
  }

  private dropLast(): void {
    const columns = [this.depths, this.nameColumn, this.flagColumn, this.lefts, this.widths, this.befores, this.afters];
    for (const column of columns) column.n--;
  }

  build(): FlameTree {
    if (this.open.length > 0 || this.depths.n === 0) throw new Error("the tree is not complete");
    const { frame, isDiff, isSigned } = this;
    const n = this.depths.n;
    const { levelStart, order } = this.sortByLevel();
    const isSmall = this.isWhole && this.x < 2 ** 32;
    const arrange = (from: Numbers, to: Column) => {
      for (let i = 0; i < n; i++) to[order[i]] = from.array[i];
      return to;
    };
    const layout = () => (isSmall ? new Uint32Array(n) : new Float64Array(n));
    const sides = () => (isSmall && !isSigned ? new Uint32Array(n) : new Float64Array(n));
    const nNames = frame.names.length + this.extra.length;
    const name = nNames < 65536 ? new Uint16Array(n) : new Uint32Array(n);
    const flags = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      name[order[i]] = this.nameColumn.array[i];
      flags[order[i]] = this.flagColumn.array[i];
    }
    const totals = [this.befores.array[0] * frame.divisor];
    if (isDiff) totals.push((this.afters.array[0] / frame.factor) * frame.divisor);
    return {
      ...this.namesAndDetails(nNames),
      n,
      depth: levelStart.length - 1,
      levelStart,
      left: arrange(this.lefts, layout()),
      width: arrange(this.widths, layout()),
      name,
      before: isDiff ? arrange(this.befores, sides()) : null,
      after: isDiff ? arrange(this.afters, sides()) : null,
      values: isSigned && !isDiff ? (arrange(this.befores, new Float64Array(n)) as Float64Array) : null,
      flags: flags.some((flag) => flag !== 0) ? flags : null,
      texts: frame.texts,
      unit: frame.unit,
      divisor: frame.divisor,
      factor: frame.factor,
      isInverted: frame.isInverted,
      isSigned,
      totals,
      samples: frame.samples,
      sides: frame.sides,
    };
  }

  /** Where each node goes: a stable sort by depth. */
  private sortByLevel(): { levelStart: Uint32Array; order: Uint32Array } {
    const { array, n } = this.depths;
    let depth = 0;
    for (let i = 0; i < n; i++) depth = Math.max(depth, array[i] + 1);
    const levelStart = new Uint32Array(depth + 1);
    for (let i = 0; i < n; i++) levelStart[array[i] + 1]++;
    for (let level = 0; level < depth; level++) levelStart[level + 1] += levelStart[level];
    const cursors = levelStart.slice();
    const order = new Uint32Array(n);
    for (let i = 0; i < n; i++) order[i] = cursors[array[i]]++;
    return { levelStart, order };
  }

  private namesAndDetails(n: number): Pick<FlameTree, "names" | "kinds" | "modules" | "files" | "lines"> {
    const { names, kinds, modules, files, lines } = this.frame;
    if (this.extra.length === 0) return { names, kinds, modules, files, lines };
    const grow = (from: Uint32Array, of: (details: NameDetails) => number | undefined) => {
      const to = new Uint32Array(n);
      to.set(from);
      this.extra.forEach(({ details }, i) => (to[names.length + i] = of(details) ?? 0));
      return to;
    };
    return {
      names: [...names, ...this.extra.map(({ text }) => text)],
      kinds: Uint8Array.from(grow(Uint32Array.from(kinds), (details) => details.kind)),
      modules: grow(modules, (details) => details.module),
      files: grow(files, (details) => details.file),
      lines: grow(lines, (details) => details.line),
    };
  }
}

/** A frame for trees that come from nowhere else. */
export function emptyFrame(unit = "", isDiff = false): TreeFrame {
  const none = () => new Uint32Array(0);
  return {
    names: [],
    kinds: new Uint8Array(0),
    modules: none(),
    files: none(),
    lines: none(),
    texts: [""],
    unit,
    divisor: 1,
    factor: 1,
    isInverted: false,
    samples: [null],
    before: isDiff ? none() : null,
    sides: BEFORE_AFTER,
  };
}
