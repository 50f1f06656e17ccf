// SPDX-License-Identifier: Apache-2.0
// Bytes of docs/format-flame.md -> columns, in one pass over the nodes for each column of values. Nothing is believed: each
// number is checked before it is used as a length or a place, and what is allocated is bounded by the bytes that are there.

import { FormatError, Stream } from "./stream.ts";
import { BEFORE_AFTER, type Column, type FlameTree } from "./tree.ts";

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
    unit: input.text(input.number()),
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
  input.close();
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

/** Checks that runs (how far each leaf lies below where it branches off) and pops (how far up the next node is) make a tree of
 *  n nodes, so that who walks it by them never leaves the columns. Returns the first nodes of levels, [maxDepth + 2]. */
function readLevels({ n, nLeaves, maxDepth }: Header, { runs, pops }: Streams): Uint32Array {
  const { bytes } = runs;
  const changes = new Int32Array(maxDepth + 2); /* how many nodes more a level has than the one above it */
  let [runAt, popAt] = [runs.at, pops.at];
  let depth = -1;
  let nSeen = 0;
  let deepest = 0;
  for (let leaf = 1; ; leaf++) {
    let run = bytes[runAt++];
    if (run > 127) {
      run = runs.numberAt(runAt - 1);
      runAt = runs.at;
    }
    if (!(run > 0 && depth + run <= maxDepth)) runs.fail(`a run of ${run} nodes does not fit`);
    changes[depth + 1]++;
    depth += run;
    changes[depth + 1]--;
    nSeen += run;
    if (depth > deepest) deepest = depth;
    if (leaf === nLeaves) break;
    let pop = bytes[popAt++];
    if (pop > 127) {
      pop = pops.numberAt(popAt - 1);
      popAt = pops.at;
    }
    depth -= pop + 1;
    if (!(depth >= 0)) pops.fail(`a step up by ${pop} leaves the tree`);
  }
  runs.close(runAt);
  pops.close(popAt);
  if (nSeen !== n || deepest !== maxDepth) runs.fail(`it has ${nSeen} nodes on ${deepest + 1} levels, but says ${n} on ${maxDepth + 1}`);
  const levelStart = new Uint32Array(maxDepth + 2);
  for (let level = 0, size = 0; level <= maxDepth; level++) levelStart[level + 1] = levelStart[level] + (size += changes[level]);
  return levelStart;
}

/** Names that names call: those of name i are list[starts[i]] up to list[starts[i + 1] - 1], not included. */
interface Callees {
  starts: Uint32Array;
  list: Uint32Array;
}

function readCallees({ hasRanks, nNames }: Header, stream: Stream): Callees | null {
  if (!hasRanks) {
    stream.close();
    return null;
  }
  const list = stream.rest();
  const starts = new Uint32Array(nNames + 1);
  let at = 0;
  for (let name = 0; name < nNames; name++) {
    const count = list[at++];
    if (!(count <= list.length - at)) stream.fail(`a name has ${count} callees`);
    starts[name] = at;
    for (const end = at + count; at < end; at++) if (list[at] >= nNames) stream.fail(`there is no name ${list[at]}`);
  }
  starts[nNames] = at + 1;
  if (at !== list.length) stream.fail(`${list.length - at} numbers are left over`);
  return { starts, list };
}

/** The next of the nodes that a stream of pairs (distance from the one before, something) is about; n behind the last. */
function nextIn(stream: Stream, node: number, n: number): number {
  if (stream.nLeft === 0) return n;
  const next = node + stream.number();
  return next > node && next < n ? next : stream.fail(`node ${next} does not follow ${node}`);
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

/** What readNodes() needs. */
interface Walk {
  header: Header;
  streams: Streams;
  levelStart: Uint32Array;
  nodes: Nodes;
  /** For each leaf, whether it has a value in a column read so far. */
  isFilled: Uint8Array;
}

/** Walks the tree in pre-order along one column of values. Writes where nodes begin and their totals; of values with a sign
 *  (`isSigned`) these have one, otherwise it is dropped. With `isFirst` names and flags are read, too. Returns the total. The
 *  shape is known to be right, so that no number here leads outside of the columns. */
function readNodes(walk: Walk, column: number, left: Column, width: Column, isSigned: boolean, isFirst: boolean): number {
  const { header, streams, levelStart, isFilled } = walk;
  const { runs, pops, nodeNames, flags: flagged } = streams;
  const { name, flags } = walk.nodes;
  const { n, nLeaves, nNames, maxDepth } = header;
  const leaves = streams.leaves[column];
  const inner = streams.inner[column];
  const { bytes } = runs;
  const callees = isFirst ? readCallees(header, streams.callees) : null;
  const starts = callees?.starts ?? new Uint32Array();
  const list = callees?.list ?? starts;
  const hasRanks = callees !== null;
  const cursors = levelStart.slice(); /* the next node of each level */
  const names = new Uint32Array(maxDepth + 1); /* by level, of open nodes, like own values, which count when they are left */
  const own = new Float64Array(maxDepth + 1);
  const hasSigns = header.isSigned;
  const withSign = (value: number) => {
    const size = value % 2 === 0 ? value / 2 : (value + 1) / 2;
    return isSigned && value % 2 !== 0 ? -size : size;
  };
  inner.at = inner.start;
  let nextInner = nextIn(inner, -1, n);
  let nextFlagged = flags !== null && isFirst ? nextIn(flagged, -1, n) : n;
  let [runAt, popAt, nameAt, leafAt] = [runs.start, pops.start, nodeNames.start, leaves.start];
  let x = 0;
  /* The root is open already, and has no name in its stream. */
  let first = 1;
  let level = 1;
  cursors[0] = 1;
  name[0] = names[0] = header.rootName;
  for (let leaf = 0; leaf < nLeaves; leaf++) {
    let run = bytes[runAt++];
    if (run > 127) {
      run = runs.numberAt(runAt - 1);
      runAt = runs.at;
    }
    if (leaf === 0) run--;
    const last = level + run - 1;
    const behind = first + run;
    while (nextInner < behind) {
      if (nextInner === behind - 1) inner.fail(`node ${nextInner} is a leaf`);
      const value = inner.number();
      own[level + nextInner - first] = hasSigns ? withSign(value) : value;
      nextInner = nextIn(inner, nextInner, n);
    }
    while (nextFlagged < behind) {
      const at = nextFlagged === 0 ? 0 : cursors[level + nextFlagged - first];
      const found = flagged.number();
      if (found > 7) flagged.fail(`flags are ${found}`);
      flags![at] = found;
      nextFlagged = nextIn(flagged, nextFlagged, n);
    }
    let id = names[level - 1];
    for (; level <= last; level++) {
      const node = cursors[level];
      cursors[level] = node + 1;
      left[node] = x;
      if (!isFirst) continue;
      let number = bytes[nameAt++];
      if (number > 127) {
        number = nodeNames.numberAt(nameAt - 1);
        nameAt = nodeNames.at;
      }
      if (hasRanks) {
        const place = starts[id] + number;
        if (!(place < starts[id + 1] - 1)) nodeNames.fail(`a name has no callee ${number}`);
        id = list[place];
      } else {
        if (!(number < nNames)) nodeNames.fail(`there is no name ${number}`);
        id = number;
      }
      names[level] = id;
      name[node] = id;
    }
    first = behind;
    let value = bytes[leafAt++];
    if (value > 127) {
      value = leaves.numberAt(leafAt - 1);
      leafAt = leaves.at;
    }
    if (value !== 0) isFilled[leaf] = 1;
    if (hasSigns) value = withSign(value);
    width[cursors[last] - 1] = value;
    x += value;
    let to = 0;
    if (leaf + 1 < nLeaves) {
      let pop = bytes[popAt++];
      if (pop > 127) {
        pop = pops.numberAt(popAt - 1);
        popAt = pops.at;
      }
      to = last - pop;
    }
    for (level = last - 1; level >= to; level--) {
      const node = cursors[level] - 1;
      x += own[level];
      own[level] = 0;
      width[node] = x - left[node];
    }
    level = to;
  }
  if (isFirst) nodeNames.close(nameAt);
  leaves.close(leafAt);
  return x;
}

/** Sums of doubles are exact up to 2^53, and close beyond. */
function checkTotal(said: number, total: number, size: number, stream: Stream): void {
  if (!(Math.abs(total - said) <= (size < 2 ** 53 ? 0 : size * 1e-6))) stream.fail(`its values add up to ${total}, but it says ${said}`);
}

function addTo(sums: Column, column: Column, factor: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] += column[i] * factor;
}

/** Reads all columns. The layout of two is that of the first and that of the second, multiplied, added up. */
function readColumns(header: Header, streams: Streams, levelStart: Uint32Array): Nodes {
  const { n, nColumns, isSigned, factor, totals } = header;
  /* Values with a sign, and factors, are added up as doubles. */
  const isSmall = !isSigned && factor === 1 && totals.reduce((a, b) => a + b, 0) < 2 ** 32;
  const column = () => (isSmall ? new Uint32Array(n) : new Float64Array(n));
  const isDiff = nColumns === 2;
  const nodes: Nodes = {
    left: column(),
    width: column(),
    name: header.nNames < 65536 ? new Uint16Array(n) : new Uint32Array(n),
    before: isDiff ? column() : null,
    after: isDiff ? column() : null,
    values: !isDiff && isSigned ? new Float64Array(n) : null,
    flags: streams.flags.nLeft > 0 ? new Uint8Array(n) : null,
  };
  const walk: Walk = { header, streams, levelStart, nodes, isFilled: new Uint8Array(header.nLeaves) };
  totals.forEach((said, i) => {
    const [left, width] = i === 0 ? [nodes.left, nodes.width] : [column(), column()];
    const size = readNodes(walk, i, left, width, false, i === 0);
    const values = i === 1 ? nodes.after : (nodes.before ?? nodes.values);
    const total = values && isSigned ? readNodes(walk, i, column(), values, true, false) : size;
    checkTotal(said, total, size, streams.leaves[i]);
    if (isDiff && !isSigned) values?.set(width);
    if (i === 0) return;
    addTo(nodes.left, left, factor);
    addTo(nodes.width, width, factor);
    if (factor !== 1 && values) for (let node = 0; node < n; node++) values[node] *= factor;
  });
  if (n > 1 && walk.isFilled.includes(0)) streams.leaves[0].fail("a leaf has no value");
  return nodes;
}

function readDetails({ nNames, nTexts }: Header, stream: Stream): Pick<FlameTree, "kinds" | "modules" | "files" | "lines"> {
  const all = stream.rest();
  if (all.length !== 4 * nNames) stream.fail(`${all.length} numbers do for ${all.length / 4} names, not ${nNames}`);
  const kinds = new Uint8Array(nNames);
  const [modules, files, lines] = [new Uint32Array(nNames), new Uint32Array(nNames), new Uint32Array(nNames)];
  for (let i = 0; i < nNames; i++) {
    const at = 4 * i;
    if (all[at] > 255 || all[at + 1] > nTexts || all[at + 2] > nTexts) stream.fail(`those of name ${i} make no sense`);
    kinds[i] = all[at];
    modules[i] = all[at + 1];
    files[i] = all[at + 2];
    lines[i] = all[at + 3];
  }
  return { kinds, modules, files, lines };
}

/** Decodes a flame graph. Throws FormatError. The bytes are not needed afterwards. */
export function decodeFlame(bytes: Uint8Array): FlameTree {
  const { header, streams } = readHeader(bytes);
  const { n, maxDepth, unit, divisor, factor, isInverted, isSigned, samples } = header;
  const levelStart = readLevels(header, streams);
  return {
    ...readColumns(header, streams, levelStart),
    ...readDetails(header, streams.details),
    n,
    depth: maxDepth + 1,
    levelStart,
    names: streams.names.texts(header.nNames),
    texts: ["", ...streams.texts.texts(header.nTexts)],
    unit,
    divisor,
    factor,
    isInverted,
    isSigned,
    totals: header.totals.map((total) => total * divisor),
    samples,
    sides: BEFORE_AFTER,
  };
}
