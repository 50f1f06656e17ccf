// SPDX-License-Identifier: Apache-2.0
// Writes docs/format-flame.md, plainly: for tests and benches that need bytes without a server.

/** A tree as its nodes in pre-order. */
export interface PreOrder {
  depths: number[];
  /** Into names. */
  nodeNames: number[];
  /** For each column the own values of nodes. */
  selfs: number[][];
  flags?: number[];
  names: string[];
  details?: { kind: number; module: number; file: number; line: number }[];
  texts?: string[];
  unit?: string;
  divisor?: number;
  factor?: number;
  samples?: (number | null)[];
  isInverted?: boolean;
}

class Bytes {
  private array = new Uint8Array(256);
  private n = 0;

  byte(value: number): void {
    if (this.n === this.array.length) {
      const grown = new Uint8Array(this.n * 2);
      grown.set(this.array);
      this.array = grown;
    }
    this.array[this.n++] = value;
  }

  number(value: number): this {
    let rest = BigInt(value);
    if (value < 2 ** 31) {
      let small = value;
      for (; small >= 128; small >>>= 7) this.byte((small & 127) | 128);
      this.byte(small);
      return this;
    }
    for (; rest >= 128n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
    this.byte(Number(rest));
    return this;
  }

  bytes(bytes: Uint8Array): this {
    for (const byte of bytes) this.byte(byte);
    return this;
  }

  text(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.number(bytes.length).bytes(bytes);
  }

  get view(): Uint8Array {
    return this.array.subarray(0, this.n);
  }
}

/** For each name its callees, the most frequent first, and the place of each. */
function calleesOf(tree: PreOrder, parents: number[]): Map<number, number>[] {
  const counts = tree.names.map(() => new Map<number, number>());
  for (let i = 1; i < tree.depths.length; i++) {
    const count = counts[tree.nodeNames[parents[i]]];
    count.set(tree.nodeNames[i], (count.get(tree.nodeNames[i]) ?? 0) + 1);
  }
  return counts.map((count) => new Map([...count].sort((a, b) => b[1] - a[1]).map(([name], place) => [name, place])));
}

function parentsOf(depths: number[]): number[] {
  const open: number[] = [];
  return depths.map((depth, i) => {
    open[depth] = i;
    return depth === 0 ? -1 : open[depth - 1];
  });
}

export function encodeFlame(tree: PreOrder, hasRanks = true): Uint8Array {
  const { depths, selfs, names, nodeNames } = tree;
  const n = depths.length;
  const isSigned = selfs.some((column) => column.some((value) => value < 0));
  const parents = parentsOf(depths);
  const isLeaf = (i: number) => i + 1 === n || depths[i + 1] <= depths[i];
  const valueNumber = (value: number) => (!isSigned ? value : value < 0 ? -2 * value - 1 : 2 * value);
  const [runs, pops, nodeNameBytes, calleeBytes, flagBytes, nameBytes, detailBytes, textBytes] = Array.from({ length: 8 }, () => new Bytes());
  const columns = selfs.map(() => [new Bytes(), new Bytes()]);
  let nLeaves = 0;
  let branch = 0;
  let flagged = -1;
  const inner = selfs.map(() => -1);
  const callees = hasRanks ? calleesOf(tree, parents) : [];
  for (let i = 0; i < n; i++) {
    if (isLeaf(i)) {
      nLeaves++;
      runs.number(depths[i] - branch + 1);
      if (i + 1 < n) pops.number(depths[i] - depths[i + 1]);
      branch = depths[i + 1];
    }
    selfs.forEach((column, c) => {
      if (isLeaf(i)) columns[c][0].number(valueNumber(column[i]));
      else if (column[i] !== 0) {
        columns[c][1].number(i - inner[c]).number(valueNumber(column[i]));
        inner[c] = i;
      }
    });
    if (i > 0) nodeNameBytes.number(hasRanks ? callees[nodeNames[parents[i]]].get(nodeNames[i])! : nodeNames[i]);
    if (tree.flags?.[i]) {
      flagBytes.number(i - flagged).number(tree.flags[i]);
      flagged = i;
    }
  }
  for (const list of callees) {
    calleeBytes.number(list.size);
    for (const name of list.keys()) calleeBytes.number(name);
  }
  names.forEach((name, i) => {
    nameBytes.text(name);
    const details = tree.details?.[i];
    detailBytes.number(details?.kind ?? 0).number(details?.module ?? 0).number(details?.file ?? 0).number(details?.line ?? 0);
  });
  tree.texts?.forEach((text) => textBytes.text(text));
  const out = new Bytes();
  out.bytes(new TextEncoder().encode("HFLM")).bytes(Uint8Array.of(1, (hasRanks ? 1 : 0) | (isSigned ? 2 : 0) | (tree.isInverted ? 4 : 0), selfs.length, 0));
  if (selfs.length === 2) out.bytes(new Uint8Array(new Float64Array([tree.factor ?? 1]).buffer));
  const maxDepth = depths.reduce((a, b) => Math.max(a, b), 0);
  out.number(n).number(nLeaves).number(maxDepth).number(names.length).number(nodeNames[0]).number(tree.texts?.length ?? 0).number(tree.divisor ?? 1);
  for (const column of selfs) out.number(valueNumber(column.reduce((a, b) => a + b, 0)));
  selfs.forEach((_, c) => out.number(tree.samples?.[c] == null ? 0 : tree.samples[c]! + 1));
  out.text(tree.unit ?? "");
  const streams = [runs, pops, ...columns.flat(), nodeNameBytes, calleeBytes, flagBytes, nameBytes, detailBytes, textBytes];
  for (const stream of streams) out.number(stream.view.length);
  for (const stream of streams) out.bytes(stream.view);
  return out.view.slice();
}

/** Numbers in [0, 1) that are the same each time. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface SyntheticOptions {
  n: number;
  nNames?: number;
  maxDepth?: number;
  nColumns?: 1 | 2;
  /** What values are multiplied by. */
  scale?: number;
  isSigned?: boolean;
  seed?: number;
}

/** A tree like that of a large program: names call a few others each, most of the value lies in few leaves. */
export function syntheticTree(options: SyntheticOptions): PreOrder {
  const { n, nNames = 12000, maxDepth = 118, nColumns = 1, scale = 1, isSigned = false, seed = 1 } = options;
  const random = randomFrom(seed);
  const packages = ["net/http", "github.com/acme/checkout/cart", "encoding/json", "runtime", "database/sql", "crypto/tls", "std::vec", "bytes"];
  const names = Array.from({ length: nNames }, (_, i) => {
    const from = packages[i % packages.length];
    return i === 0 ? "total" : `${from}${from.includes("::") ? "::" : "."}function_${i.toString(36)}`;
  });
  const callee = (name: number) => 1 + (Math.imul(name * 31 + Math.floor(random() ** 2.5 * 9), 2654435761) >>> 0) % (nNames - 1);
  const value = () => scale * (isSigned && random() < 0.3 ? -1 : 1) * Math.ceil(1 / (random() * 0.98 + 0.02) ** 1.2);
  const tree: PreOrder = { depths: [0], nodeNames: [0], selfs: Array.from({ length: nColumns }, () => [0]), flags: [0], names, unit: "count" };
  const open = [0];
  for (let i = 1; i < n; i++) {
    let depth = Math.min(tree.depths[i - 1] + 1, maxDepth);
    if (random() < 0.44 || tree.depths[i - 1] === maxDepth) depth -= Math.min(depth - 1, Math.floor(Math.log(random()) / Math.log(0.56)) + 1);
    if (i > 1 && depth === 0) depth = 1;
    const name = callee(open[depth - 1]);
    open[depth] = name;
    tree.depths.push(depth);
    tree.nodeNames.push(name);
    tree.flags!.push(random() < 0.1 ? 1 : 0);
    for (const column of tree.selfs) column.push(random() < 0.05 ? value() : 0);
  }
  for (let i = 0; i < n; i++) {
    const isLeaf = i + 1 === n || tree.depths[i + 1] <= tree.depths[i];
    if (!isLeaf) continue;
    for (const column of tree.selfs) column[i] = column === tree.selfs[0] || random() < 0.9 ? value() : 0;
  }
  return tree;
}
