// SPDX-License-Identifier: Apache-2.0
// Makes a flame tree from the nodes of another: whatever reaches the same parent under the same name becomes one node. The
// new tree grows level by level, each node together with the nodes of the source that it is made of, its members. As totals of
// members add up to that of the node, nothing has to be summed from the leaves. Siblings are ordered as the server does it:
// by size, then by name.

import { INLINED, OTHER, PARTLY_INLINED, type Column, type FlameTree } from "./tree.ts";

/** Names of the new tree where they are not those of the source. */
export type NameTable = Pick<FlameTree, "names" | "kinds" | "modules" | "files" | "lines" | "texts">;

/** Beside the flags of trees: the node has members that are not inlined. */
const PLAIN = 8;

const MANY = 32;

function mergedFlags(flags: number): number {
  const isMixed = (flags & PARTLY_INLINED) !== 0 || ((flags & INLINED) !== 0 && (flags & PLAIN) !== 0);
  return (isMixed ? PARTLY_INLINED : flags & INLINED) | (flags & OTHER);
}

function resized<T extends Column | Uint8Array>(array: T, n: number): T {
  const other = new (array.constructor as new (n: number) => T)(n);
  other.set(array.length > n ? (array.subarray(0, n) as T) : array);
  return other;
}

/** Offers what lies below one member of the node that is being grown, by Regrouper.offer(). */
export type Expand = (key: number, member: number) => void;

/** Says whether the children of a node of the source, put into `range`, stay as they are below a node with this key. */
export type PlainChildren = (member: number, key: number, range: { from: number; to: number }) => boolean;

export class Regrouper {
  private readonly source: FlameTree;
  private readonly table: NameTable;
  private n = 1;
  private left: Column;
  private width: Column;
  private before: Column | null;
  private after: Column | null;
  private values: Float64Array | null;
  private name: Uint32Array;
  private flags: Uint8Array;
  private memberStart: Uint32Array;
  private members = new Uint32Array(1024);
  private nMembers = 0;
  /* What was offered below the node at hand, and the groups made of it. */
  private offered = new Uint32Array(64);
  private offeredGroup = new Uint32Array(64);
  private nOffered = 0;
  private groups: Group[] = [];
  private nGroups = 0;
  private order: number[] = [];
  private readonly range = { from: 0, to: 0 };
  private readonly stamps: Uint32Array;
  private readonly groupOfKey: Uint32Array;
  private stamp = 0;

  /** `capacity` is a guess of how many nodes there will be. Keys are numbers of names of `table`. */
  constructor(source: FlameTree, capacity: number, table: NameTable = source) {
    const make = <T extends Column | null>(like: T) => (like && new (like.constructor as new (n: number) => Column)(capacity)) as T;
    this.source = source;
    this.table = table;
    this.left = make(source.left);
    this.width = make(source.width);
    this.before = make(source.before);
    this.after = make(source.after);
    this.values = make(source.values);
    this.name = new Uint32Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.memberStart = new Uint32Array(capacity + 1);
    this.stamps = new Uint32Array(table.names.length);
    this.groupOfKey = new Uint32Array(table.names.length);
  }

  /** Grows the tree from a root made of `members`, whose values are those of the nodes `values`. `expand` is asked for each
   *  new node, with its key and one of its members, to offer what lies below. Where a node has one member only, `plainChildren`
   *  may say that what is below is the same as in the source. */
  grow(rootKey: number, members: readonly number[], values: readonly number[], expand: Expand, plainChildren?: PlainChildren): FlameTree {
    this.name[0] = rootKey;
    for (let i = 0; i < members.length; i++) {
      this.pushMember(members[i]);
      this.addTo(0, values[i]);
    }
    this.memberStart[1] = this.nMembers;
    const levels = [0];
    for (let node = 0, levelEnd = 0; node < this.n; node++) {
      if (node === levelEnd) {
        if (node > 0) levels.push(node);
        levelEnd = this.n;
      }
      const start = this.memberStart[node];
      const end = this.memberStart[node + 1];
      if (plainChildren && end - start === 1 && plainChildren(this.members[start], this.name[node], this.range)) {
        this.copyRange(node, this.members[start]);
        continue;
      }
      this.stamp++;
      this.nOffered = 0;
      this.nGroups = 0;
      for (let i = start; i < end; i++) expand(this.name[node], this.members[i]);
      if (this.nGroups > 0) this.append(node);
    }
    levels.push(this.n);
    return this.finish(Uint32Array.from(levels));
  }

  /** Copies the children of a node of the source that are in `range`. */
  private copyRange(parent: number, member: number): void {
    const { source } = this;
    const { from, to } = this.range;
    while (this.n + to - from > this.name.length) this.enlarge();
    while (this.nMembers + to - from > this.members.length) this.members = resized(this.members, this.members.length * 2);
    const shift = this.left[parent] - source.left[member];
    for (let child = from; child < to; child++) {
      const node = this.n++;
      this.members[this.nMembers++] = child;
      this.memberStart[node + 1] = this.nMembers;
      this.name[node] = source.name[child];
      if (source.flags !== null) this.flags[node] = source.flags[child];
      this.left[node] = source.left[child] + shift;
      this.width[node] = source.width[child];
      if (this.before !== null) this.before[node] = source.before![child];
      if (this.after !== null) this.after[node] = source.after![child];
      if (this.values !== null) this.values[node] = source.values![child];
    }
  }

  private pushMember(member: number): void {
    if (this.nMembers === this.members.length) this.members = resized(this.members, this.nMembers * 2);
    this.members[this.nMembers++] = member;
  }

  private addTo(node: number, value: number): void {
    this.width[node] += this.source.width[value];
    if (this.before) this.before[node] += this.source.before![value];
    if (this.after) this.after[node] += this.source.after![value];
    if (this.values) this.values[node] += this.source.values![value];
  }

  /** Puts something below the node that is being grown: `key` is its name there, `value` the node of the source whose values
   *  count, and `member` what the new node shall have as a member. */
  offer(member: number, key: number, value: number, flags: number): void {
    let group: number;
    if (this.stamps[key] !== this.stamp) {
      this.stamps[key] = this.stamp;
      this.groupOfKey[key] = group = this.nGroups;
      if (this.nGroups === this.groups.length) this.groups.push(new Group());
      this.groups[this.nGroups++].reset(key);
    } else group = this.groupOfKey[key];
    if (this.nOffered === this.offered.length) {
      this.offered = resized(this.offered, this.nOffered * 2);
      this.offeredGroup = resized(this.offeredGroup, this.nOffered * 2);
    }
    this.offered[this.nOffered] = member;
    this.offeredGroup[this.nOffered++] = group;
    this.groups[group].add(this.source, value, flags);
  }

  /** Makes the groups children of `parent`, and gives them their members. */
  private append(parent: number): void {
    const { groups } = this;
    this.sortGroups();
    while (this.n + this.nGroups > this.name.length) this.enlarge();
    let x = this.left[parent];
    for (let i = 0; i < this.nGroups; i++) {
      const group = groups[this.order[i]];
      const node = this.n++;
      group.cursor = this.nMembers;
      this.nMembers += group.nMembers;
      this.memberStart[node + 1] = this.nMembers;
      this.name[node] = group.key;
      this.flags[node] = mergedFlags(group.flags);
      this.left[node] = x;
      this.width[node] = group.width;
      x += group.width;
      if (this.before) this.before[node] = group.before;
      if (this.after) this.after[node] = group.after;
      if (this.values) this.values[node] = group.value;
    }
    while (this.nMembers > this.members.length) this.members = resized(this.members, this.members.length * 2);
    for (let i = 0; i < this.nOffered; i++) this.members[groups[this.offeredGroup[i]].cursor++] = this.offered[i];
  }

  /** Puts the groups in order: few by insertion, which makes no garbage, many by the engine. */
  private sortGroups(): void {
    const { groups, order, nGroups } = this;
    const { names } = this.table;
    if (nGroups > MANY) {
      order.length = 0;
      for (let i = 0; i < nGroups; i++) order.push(i);
      order.sort((i, j) => compareGroups(groups[i], groups[j], names));
      return;
    }
    while (order.length < nGroups) order.push(0);
    for (let i = 0; i < nGroups; i++) {
      let at = i;
      for (; at > 0 && compareGroups(groups[order[at - 1]], groups[i], names) > 0; at--) order[at] = order[at - 1];
      order[at] = i;
    }
  }

  private enlarge(): void {
    const n = this.name.length * 2;
    this.left = resized(this.left, n);
    this.width = resized(this.width, n);
    this.before &&= resized(this.before, n);
    this.after &&= resized(this.after, n);
    this.values &&= resized(this.values, n);
    this.name = resized(this.name, n);
    this.flags = resized(this.flags, n);
    this.memberStart = resized(this.memberStart, n + 1);
  }

  private finish(levelStart: Uint32Array): FlameTree {
    const { n, source, table } = this;
    const cut = <T extends Column | Uint8Array | null>(column: T) => (column && resized(column, n)) as T;
    const first = (this.before ?? this.values ?? this.width)[0];
    const totals = [first * source.divisor];
    if (this.after) totals.push((this.after[0] * source.divisor) / source.factor);
    const flags = cut(this.flags);
    return {
      n, depth: levelStart.length - 1, levelStart, left: cut(this.left), width: cut(this.width),
      name: table.names.length < 65536 ? Uint16Array.from(this.name.subarray(0, n)) : cut(this.name),
      before: cut(this.before), after: cut(this.after), values: cut(this.values), flags: flags.some((flag) => flag !== 0) ? flags : null,
      names: table.names, kinds: table.kinds, modules: table.modules, files: table.files, lines: table.lines, texts: table.texts,
      unit: source.unit, divisor: source.divisor, factor: source.factor, isInverted: source.isInverted, isSigned: source.isSigned, totals, sides: source.sides,
      samples: source.samples.map((count, i) => (count && source.totals[i] ? count * Math.abs(totals[i] / source.totals[i]) : count)),
    };
  }
}

/** A child in the making. Kept and used again, as there are as many as nodes. */
class Group {
  key = 0;
  nMembers = 0;
  cursor = 0;
  flags = 0;
  width = 0;
  before = 0;
  after = 0;
  value = 0;

  reset(key: number): void {
    this.key = key;
    this.nMembers = this.flags = this.width = this.before = this.after = this.value = 0;
  }

  add(source: FlameTree, value: number, flags: number): void {
    this.nMembers++;
    this.flags |= flags & (INLINED | PARTLY_INLINED) ? flags : flags | PLAIN;
    this.width += source.width[value];
    if (source.before) this.before += source.before[value];
    if (source.after) this.after += source.after[value];
    if (source.values) this.value += source.values[value];
  }
}

function compareGroups(a: Group, b: Group, names: readonly string[]): number {
  if (a.width !== b.width) return b.width - a.width;
  return names[a.key] < names[b.key] ? -1 : names[a.key] > names[b.key] ? 1 : 0;
}
