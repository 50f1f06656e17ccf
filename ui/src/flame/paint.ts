// SPDX-License-Identifier: Apache-2.0
// Paints a level of a flame graph into one row of pixels. The row is stretched to the height of frames by who calls, so that
// a whole graph costs as many pixels as it is wide for each level, however many nodes it has: nodes narrower than a pixel are
// passed over by jumping from pixel to pixel. It touches no page, so that it can be tested and used anywhere.
//
// P1  A frame at least a pixel wide owns the pixels from that in which it begins up to that in which it ends. From three
//     pixels on its last one stays empty, which sets it off from the next.
// P2  A narrower one marks the pixel in which it begins, unless a frame of P1 owns that pixel.
// P3  A narrow one that was found by a search lights its pixel, and the pixel stays lit unless the frame that owns it was found
//     itself.

import { type Colours, placeOfName } from "./colour.ts";
import { hasBit } from "./search.ts";
import { type FlameTree, INLINED, OTHER, firstAfter } from "./tree.ts";

/** What is painted: [v0, v1) of the layout onto nPixels. */
export interface Scene {
  tree: FlameTree;
  colours: Colours;
  /** Bits of the frames found, or null if nothing is searched for. */
  hits: Uint32Array | null;
  v0: number;
  v1: number;
  nPixels: number;
}

/** Frames that are wide enough for a text: numbers in fours of first pixel, width in pixels, level and node. */
export class LabelList {
  numbers = new Int32Array(4096);
  n = 0;
  /** How many pixels a frame needs to be listed. */
  minimum: number;

  constructor(minimum: number) {
    this.minimum = minimum;
  }

  push(x: number, width: number, level: number, node: number): void {
    let { numbers, n } = this;
    if (n * 4 === numbers.length) {
      this.numbers = new Int32Array(n * 8);
      this.numbers.set(numbers);
      numbers = this.numbers;
    }
    numbers[n * 4] = x;
    numbers[n * 4 + 1] = width;
    numbers[n * 4 + 2] = level;
    numbers[n * 4 + 3] = node;
    this.n = n + 1;
  }
}

/** The colour of a frame that is wide enough to have one. */
export function colourOf(scene: Scene, node: number): number {
  const { tree, colours, hits } = scene;
  const flags = tree.flags === null ? 0 : tree.flags[node];
  const isHit = hits !== null && ((hits[node >>> 5] >>> (node & 31)) & 1) === 1;
  if (isHit && colours.ofName !== null) return colours.hit;
  const index = (flags & OTHER) !== 0 ? 0 : colours.ofName === null ? diffIndex(tree, node, colours.plain.length) : placeOfName(colours, tree.name[node]);
  if (hits !== null && !isHit) return colours.dim[index];
  return (flags & INLINED) !== 0 ? colours.soft[index] : colours.plain[index];
}

/** Places 1 .. n - 1 of a diff palette: the first is gone, the middle unchanged, the last new. Small changes show, too. */
export function diffIndex(tree: FlameTree, node: number, n: number): number {
  const before = tree.before === null ? 0 : tree.before[node];
  const after = tree.after === null ? 0 : tree.after[node];
  const sum = Math.abs(before) + Math.abs(after);
  const steps = (n - 2) >> 1;
  if (sum === 0) return 1 + steps;
  const change = (after - before) / sum;
  const size = Math.round(Math.sqrt(Math.abs(change)) * steps);
  return 1 + steps + (change < 0 ? -size : size);
}

/** The first node from `i` on that ends behind x; nodes that end before are passed over in growing steps. */
function jump(left: FlameTree["left"], width: FlameTree["width"], i: number, end: number, x: number): number {
  let step = 1;
  let low = i;
  while (low < end && left[low] + width[low] <= x) {
    i = low + 1;
    low += step;
    step *= 2;
  }
  let high = Math.min(low, end);
  while (i < high) {
    const middle = (i + high) >>> 1;
    if (left[middle] + width[middle] > x) high = middle;
    else i = middle + 1;
  }
  return i;
}

/** Paints `level` into nPixels of `pixels` from `offset` on, and lists frames that can have a text. */
export function paintLevel(scene: Scene, level: number, pixels: Uint32Array, offset: number, labels: LabelList | null): void {
  const { tree, colours, hits, v0, v1, nPixels } = scene;
  const { left, width } = tree;
  pixels.fill(colours.background, offset, offset + nPixels);
  if (level >= tree.depth || !(v1 > v0)) return;
  const start = tree.levelStart[level];
  const end = tree.levelStart[level + 1];
  const scale = nPixels / (v1 - v0);
  let i = Math.max(start, firstAfter(left, start, end, v0) - 1);
  if (left[i] + width[i] <= v0) i++;
  let marked = -1;
  let lit = -1;
  while (i < end && left[i] < v1) {
    const x = (left[i] - v0) * scale;
    const endsAt = left[i] + width[i];
    const xEnd = endsAt === v1 ? nPixels : (endsAt - v0) * scale; /* what ends with the view does so without rounding */
    if (xEnd - x >= 1) {
      let from = Math.floor(x);
      let to = Math.floor(xEnd);
      if (to - from >= 3) to--;
      if (from < 0) from = 0;
      if (to > nPixels) to = nPixels;
      if (labels !== null && to - from >= labels.minimum) labels.push(from, to - from, level, i);
      if (from === lit && ((hits![i >>> 5] >>> (i & 31)) & 1) === 0) from++;
      const colour = colourOf(scene, i);
      if (to - from > 32) pixels.fill(colour, offset + from, offset + to);
      else for (let p = offset + from; p < offset + to; p++) pixels[p] = colour;
      i++;
      continue;
    }
    const p = x < 0 ? 0 : Math.floor(x);
    if (p >= nPixels) break;
    const next = jump(left, width, i + 1, end, v0 + (p + 1) / scale);
    if (hits !== null && hasBit(hits, i, next)) {
      pixels[offset + p] = colours.lit;
      lit = p;
    } else if (p !== marked) pixels[offset + p] = colours.thin;
    marked = p;
    i = next;
  }
}
