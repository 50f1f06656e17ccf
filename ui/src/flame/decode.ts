// SPDX-License-Identifier: Apache-2.0
// Bytes of docs/format-flame.md -> columns, in one pass over the nodes. Nothing is believed: each number is checked before it
// is used as a length or a place, and what is allocated is bounded by the bytes that are there.

import { FormatError, Stream } from "./stream.ts";
import type { Column, FlameTree } from "./tree.ts";

export { FormatError } from "./stream.ts";

const HEADER_BYTES = 8;
const RANKS = 1;
const SIGNED = 2;
const INVERTED = 4;

interface Header {
  hasRanks: boolean;
  isSigned: boolean;
  isInverted: boolean;
  nColumns: number;
  factor: number;
  n: number;
  nLeaves: number;
  maxDepth: number;
  nNames: number;
  rootName: number;
  nTexts: number;
  divisor: number;
  /** As they are in the bytes: divided. */
  totals: number[];
  samples: (number | null)[];
  unit: string;
}

interface Streams {
  runs: Stream;
  pops: Stream;
  leaves: Stream[];
  inner: Stream[];
  nodeNames: Stream;
  callees: Stream;
  flags: Stream;
  names: Stream;
  details: Stream;
  texts: Stream;
}

function readPreamble(bytes: Uint8Array): Pick<Header, "hasRanks" | "isSigned" | "isInverted" | "nColumns" | "factor"> {
  const isFlame = bytes.length >= HEADER_BYTES && bytes[0] === 0x48 && bytes[1] === 0x46 && bytes[2] === 0x4c && bytes[3] === 0x4d;
  if (!isFlame) throw new FormatError("These bytes are no flame graph: they do not begin with HFLM.");
  const [version, flags, nColumns, reserved] = bytes.subarray(4, HEADER_BYTES);
  if (version !== 1) throw new FormatError(`This flame graph has version ${version} of the format; this page reads 1. Load the page again.`);
  if (flags > 7 || nColumns < 1 || nColumns > 2 || reserved !== 0)
    throw new FormatError(`This flame graph is damaged: flags ${flags}, columns ${nColumns}, reserved ${reserved} make no sense.`);
  let factor = 1;
  if (nColumns === 2) {
    if (bytes.length < HEADER_BYTES + 8) throw new FormatError("This flame graph is damaged: it ends within its factor.");
    factor = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getFloat64(HEADER_BYTES, true);
    if (!(factor > 1e-100 && factor < 1e100)) throw new FormatError(`This flame graph is damaged: its factor is ${factor}.`);
  }
  const has = (flag: number) => (flags & flag) !== 0;
  return { hasRanks: has(RANKS), isSigned: has(SIGNED), isInverted: has(INVERTED), nColumns, factor };
}

function readHeader(bytes: Uint8Array): { header: Header; streams: Streams } {
  const preamble = readPreamble(bytes);
  const start = HEADER_BYTES + (preamble.nColumns === 2 ? 8 : 0);
  const input = new Stream(bytes, start, bytes.length, "header");
  const columns = Array.from({ length: preamble.nColumns }, (_, i) => i);
  const header: Header = {
    ...preamble,
    n: input.number(),
    nLeaves: input.number(),
    maxDepth: input.number(),
    nNames: input.number(),
    rootName: input.number(),
    nTexts: input.number(),
    divisor: input.number(),
    totals: columns.map(() => (preamble.isSigned ? input.signed() : input.number())),
    samples: columns.map(() => input.number()).map((samples) => (samples === 0 ? null : samples - 1)),
    unit: input.text(),
  };
  const lengths = Array.from({ length: 8 + 2 * header.nColumns }, () => input.number());
  let at = 0;
  const part = (label: string) => input.part(lengths[at++], label);
  const runs = part("runs");
  const pops = part("pops");
  const pairs = columns.map(() => [part("leaf values"), part("inner values")]);
  const streams: Streams = {
    runs,
    pops,
    leaves: pairs.map(([leaves]) => leaves),
    inner: pairs.map(([, inner]) => inner),
    nodeNames: part("names of nodes"),
    callees: part("callees"),
    flags: part("flags of nodes"),
    names: part("names"),
    details: part("details of names"),
    texts: part("texts"),
  };
  input.finish();
  checkCounts(input, header, streams);
  return { header, streams };
}

/** Each thing counted takes a byte at least, so that counts are bounded by lengths before anything is allocated. */
function checkCounts(input: Stream, header: Header, streams: Streams): void {
  const atMost = (value: number, limit: number, what: string) => {
    if (value > limit) input.fail(`it says it has ${value} ${what}, but there is room for ${limit}`);
  };
  atMost(header.n - 1, streams.nodeNames.nLeft, "nodes below the root");
  atMost(header.nLeaves, Math.min(header.n, streams.runs.nLeft), "leaves");
  atMost(header.maxDepth, header.n - 1, "levels below the root");
  atMost(header.nNames, Math.min(streams.names.nLeft, streams.details.nLeft / 4), "names");
  atMost(header.rootName, header.nNames - 1, "as the number of the root's name");
  atMost(header.nTexts, streams.texts.nLeft, "texts");
  if (header.n < 1 || header.nLeaves < 1 || header.divisor < 1) input.fail("it has no node, no leaf, or no divisor");
}

/** The shape of the tree: how far each leaf lies below where it branches off, and how far up the next node is. */
interface Shape {
  runs: Uint32Array;
  pops: Uint32Array;
  /** [maxDepth + 2] */
  levelStart: Uint32Array;
}

/** Checks that runs and pops make a tree of n nodes, so that who walks it by them never leaves the columns. */
function readShape(header: Header, streams: Streams): Shape {
  const { runs, pops } = streams;
  const { n, nLeaves, maxDepth } = header;
  const shape: Shape = {
    runs: runs.numbers(nLeaves, maxDepth + 1, "a run"),
    pops: pops.numbers(nLeaves - 1, maxDepth, "a step up"),
    levelStart: new Uint32Array(maxDepth + 2),
  };
  const changes = new Int32Array(maxDepth + 2);
  let depth = -1;
  let nSeen = 0;
  let deepest = 0;
  for (let leaf = 0; leaf < nLeaves; leaf++) {
    const run = shape.runs[leaf];
    if (run < 1 || depth + run > maxDepth || nSeen + run > n) runs.fail(`a run of ${run} nodes does not fit`);
    changes[depth + 1]++;
    depth += run;
    changes[depth + 1]--;
    nSeen += run;
    if (depth > deepest) deepest = depth;
    if (leaf + 1 === nLeaves) break;
    depth -= shape.pops[leaf] + 1;
    if (depth < 0) pops.fail(`a step up by ${shape.pops[leaf]} leaves the tree`);
  }
  runs.finish();
  pops.finish();
  if (nSeen !== n || deepest !== maxDepth)
    runs.fail(`it has ${nSeen} nodes on ${deepest + 1} levels, but says ${n} on ${maxDepth + 1}`);
  for (let level = 0, size = 0; level <= maxDepth; level++) {
    size += changes[level];
    shape.levelStart[level + 1] = shape.levelStart[level] + size;
  }
  return shape;
}

/** Names that a name calls: those of name i are list[start[i]] up to list[start[i + 1]]. */
function readCallees(header: Header, stream: Stream): { start: Uint32Array; list: Uint32Array } {
  const start = new Uint32Array(header.nNames + 1);
  const list = new Uint32Array(stream.nLeft);
  let n = 0;
  if (header.hasRanks)
    for (let name = 0; name < header.nNames; name++) {
      const count = stream.numberTo(stream.nLeft, "the number of callees");
      for (let i = 0; i < count; i++) list[n++] = stream.numberTo(header.nNames - 1, "the number of a name");
      start[name + 1] = n;
    }
  stream.finish();
  return { start, list };
}

/** Pairs of a distance between node numbers and something about that node. */
class Sparse {
  /** The next node that has something; n when there is none. */
  next = -1;
  private readonly stream: Stream;
  private readonly n: number;

  constructor(stream: Stream, n: number) {
    this.stream = stream;
    this.n = n;
    this.advance();
  }

  advance(): void {
    if (this.stream.nLeft === 0) {
      this.next = this.n;
      return;
    }
    const distance = this.stream.number();
    if (distance < 1 || this.next + distance >= this.n) this.stream.fail(`a step of ${distance} nodes leads nowhere`);
    this.next += distance;
  }
}

interface Nodes {
  left: Column;
  width: Column;
  name: Uint16Array | Uint32Array;
  before: Column | null;
  after: Column | null;
  values: Float64Array | null;
  flags: Uint8Array | null;
}

/** Whether sums of the layout fit 32 bits. Values with a sign, and factors, are added up as doubles. */
function isSmall(header: Header): boolean {
  const sum = header.totals.reduce((a, b) => a + b, 0);
  return !header.isSigned && header.factor === 1 && sum < 2 ** 32;
}

function allocate(header: Header, streams: Streams): Nodes {
  const { n, nColumns, isSigned } = header;
  const column = () => (isSmall(header) ? new Uint32Array(n) : new Float64Array(n));
  return {
    left: column(),
    width: column(),
    name: header.nNames < 65536 ? new Uint16Array(n) : new Uint32Array(n),
    before: nColumns === 2 ? column() : null,
    after: nColumns === 2 ? column() : null,
    values: nColumns === 1 && isSigned ? new Float64Array(n) : null,
    flags: streams.flags.nLeft > 0 ? new Uint8Array(n) : null,
  };
}

/** Names of nodes in pre-order, but for the root's. */
function readNames(header: Header, streams: Streams, shape: Shape): Uint32Array {
  const { nodeNames } = streams;
  const { n, nNames, maxDepth } = header;
  const ids = nodeNames.numbers(n - 1, nNames - 1, "the number of a name");
  nodeNames.finish();
  const { start, list } = readCallees(header, streams.callees);
  if (!header.hasRanks) return ids;
  const { runs, pops } = shape;
  const open = new Uint32Array(maxDepth + 2); /* open[level + 1] is the name of the node that is open there */
  open[1] = header.rootName;
  for (let leaf = 0, i = 0, level = 1; leaf < runs.length; leaf++) {
    for (let run = leaf === 0 ? runs[0] - 1 : runs[leaf]; run > 0; run--) {
      const place = start[open[level]] + ids[i];
      if (place >= start[open[level] + 1]) nodeNames.fail(`a name has no callee at place ${ids[i]}`);
      const id = list[place];
      open[++level] = id;
      ids[i++] = id;
    }
    if (leaf < pops.length) level -= 1 + pops[leaf];
  }
  return ids;
}

/** Walks along flags of nodes, which are few. */
class FlagReader {
  next: number;
  private readonly stream: Stream;
  private readonly sparse: Sparse;

  constructor(stream: Stream, n: number) {
    this.stream = stream;
    this.sparse = new Sparse(stream, n);
    this.next = this.sparse.next;
  }

  take(): number {
    const flags = this.stream.numberTo(7, "the flags of a node");
    this.sparse.advance();
    this.next = this.sparse.next;
    return flags;
  }
}

/** Layout of one column without signs, which is its totals too. The shape is known to be right, so that no number here leads
 *  outside of the columns. */
function readPlainValues(header: Header, streams: Streams, shape: Shape, nodes: Nodes, ids: Uint32Array): Sums {
  const leaves = streams.leaves[0];
  const inner = new Sparse(streams.inner[0], header.n);
  const flagged = new FlagReader(streams.flags, header.n);
  const { left, width, name, flags } = nodes;
  const { runs, pops, levelStart } = shape;
  const cursors = levelStart.slice();
  const own = new Float64Array(header.maxDepth + 1); /* own values of open inner nodes, by level */
  let x = 0;
  let i = 0;
  let level = 0;
  for (let leaf = 0; leaf < runs.length; leaf++) {
    const last = level + runs[leaf] - 1;
    for (; level <= last; level++, i++) {
      const node = cursors[level]++;
      left[node] = x;
      name[node] = i === 0 ? header.rootName : ids[i - 1];
      if (i === inner.next) {
        if (level === last) streams.inner[0].fail(`node ${i} is a leaf`);
        own[level] = streams.inner[0].number();
        inner.advance();
      }
      if (i === flagged.next && flags !== null) flags[node] = flagged.take();
    }
    const value = leaves.number();
    if (value === 0 && header.n > 1) leaves.fail(`node ${i - 1} is a leaf without a value`);
    width[cursors[last] - 1] = value;
    x += value;
    const to = leaf + 1 < runs.length ? last - pops[leaf] : 0;
    for (level = last - 1; level >= to; level--) {
      x += own[level];
      own[level] = 0;
      const closed = cursors[level] - 1;
      width[closed] = x - left[closed];
    }
    level = to;
  }
  leaves.finish();
  return { total: x, size: x };
}

/** What the values of a column add up to, with their signs and without. */
interface Sums {
  total: number;
  size: number;
}

/** Totals of one column while the tree is walked. */
interface Side {
  leaves: Stream;
  inner: Stream;
  sparse: Sparse;
  factor: number;
  totals: Column;
  /** By level: what open nodes have so far, and their own value, which is added when they are left. */
  sums: Float64Array;
  own: Float64Array;
}

/** Layout and totals of several columns, or of one with signs. Returns the sums of each before they are multiplied. */
function readSides(header: Header, streams: Streams, shape: Shape, nodes: Nodes, ids: Uint32Array): Sums[] {
  const { runs, pops, levelStart } = shape;
  const { left, width, name, flags } = nodes;
  const flagged = new FlagReader(streams.flags, header.n);
  const levels = () => new Float64Array(header.maxDepth + 2);
  const sides = streams.leaves.map((leaves, i): Side => {
    const totals = i === 1 ? nodes.after : (nodes.before ?? nodes.values);
    const inner = streams.inner[i];
    if (!totals) throw new Error("no column for the totals");
    return { leaves, inner, sparse: new Sparse(inner, header.n), factor: i === 1 ? header.factor : 1, totals, sums: levels(), own: levels() };
  });
  const read = (stream: Stream) => (header.isSigned ? stream.signed() : stream.number());
  const cursors = levelStart.slice();
  const sums = sides.map((): Sums => ({ total: 0, size: 0 }));
  let x = 0;
  let i = 0;
  let level = 0;
  const leave = () => {
    const node = cursors[level] - 1;
    sides.forEach((side, s) => {
      const own = side.own[level] * side.factor;
      x += Math.abs(own);
      sums[s].total += side.own[level];
      sums[s].size += Math.abs(side.own[level]);
      side.totals[node] = side.sums[level] + own;
      if (level > 0) side.sums[level - 1] += side.sums[level] + own;
      side.sums[level] = side.own[level] = 0;
    });
    width[node] = x - left[node];
  };
  for (let leaf = 0; leaf < runs.length; leaf++) {
    const last = level + runs[leaf] - 1;
    for (; level <= last; level++, i++) {
      const node = cursors[level]++;
      left[node] = x;
      name[node] = i === 0 ? header.rootName : ids[i - 1];
      if (i === flagged.next && flags !== null) flags[node] = flagged.take();
      for (const side of sides)
        if (i === side.sparse.next) {
          if (level === last) side.inner.fail(`node ${i} is a leaf`);
          side.own[level] = read(side.inner);
          side.sparse.advance();
        }
    }
    level = last;
    let isEmpty = header.n > 1;
    for (const side of sides) {
      side.own[level] = read(side.leaves);
      isEmpty &&= side.own[level] === 0;
    }
    if (isEmpty) sides[0].leaves.fail(`node ${i - 1} is a leaf without a value`);
    const to = leaf + 1 < runs.length ? level - pops[leaf] : 0;
    for (; level >= to; level--) leave();
    level = to;
  }
  for (const side of sides) side.leaves.finish();
  return sums;
}

function readTexts(stream: Stream, n: number): string[] {
  const texts = new Array<string>(n);
  for (let i = 0; i < n; i++) texts[i] = stream.text();
  stream.finish();
  return texts;
}

function readDetails(header: Header, stream: Stream): Pick<FlameTree, "kinds" | "modules" | "files" | "lines"> {
  const { nNames, nTexts } = header;
  const kinds = new Uint8Array(nNames);
  const [modules, files, lines] = [new Uint32Array(nNames), new Uint32Array(nNames), new Uint32Array(nNames)];
  for (let i = 0; i < nNames; i++) {
    kinds[i] = stream.numberTo(255, "the kind of a name");
    modules[i] = stream.numberTo(nTexts, "the number of a text");
    files[i] = stream.numberTo(nTexts, "the number of a text");
    lines[i] = stream.numberTo(2 ** 32 - 1, "a line");
  }
  stream.finish();
  return { kinds, modules, files, lines };
}

/** Sums of doubles are exact up to 2^53, and close beyond. */
function checkTotals(header: Header, sums: Sums[], stream: Stream): void {
  header.totals.forEach((said, i) => {
    const { total, size } = sums[i];
    const allowed = size < 2 ** 53 ? 0 : size * 1e-6;
    if (!(Math.abs(total - said) <= allowed)) stream.fail(`its values add up to ${total}, but it says ${said}`);
  });
}

/** Decodes a flame graph. Throws FormatError. The bytes are not needed afterwards. */
export function decodeFlame(bytes: Uint8Array): FlameTree {
  const { header, streams } = readHeader(bytes);
  const shape = readShape(header, streams);
  const nodes = allocate(header, streams);
  const ids = readNames(header, streams, shape);
  const isPlain = header.nColumns === 1 && !header.isSigned;
  const sums = isPlain ? [readPlainValues(header, streams, shape, nodes, ids)] : readSides(header, streams, shape, nodes, ids);
  checkTotals(header, sums, streams.leaves[0]);
  return {
    ...nodes,
    ...readDetails(header, streams.details),
    n: header.n,
    depth: header.maxDepth + 1,
    levelStart: shape.levelStart,
    names: readTexts(streams.names, header.nNames),
    texts: ["", ...readTexts(streams.texts, header.nTexts)],
    unit: header.unit,
    divisor: header.divisor,
    factor: header.factor,
    isInverted: header.isInverted,
    isSigned: header.isSigned,
    totals: header.totals.map((total) => total * header.divisor),
    samples: header.samples,
  };
}
