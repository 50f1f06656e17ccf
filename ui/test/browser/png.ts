// SPDX-License-Identifier: Apache-2.0
// Makes pictures of pages small: at most 256 colours, chosen by how often they are there, as a PNG with a palette.

import { deflateSync, inflateSync } from "node:zlib";

interface Raster {
  width: number;
  height: number;
  rgb: Uint8Array;
}

function* chunksOf(png: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

/** Of the two neighbours and the corner, the one nearest to their plane. */
function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** Reads what browsers write: 8 bits a channel, RGB or RGBA (of which alpha is dropped), not interlaced. */
function decode(png: Buffer): Raster {
  const chunks = [...chunksOf(png)];
  const head = chunks[0].data;
  const width = head.readUInt32BE(0);
  const height = head.readUInt32BE(4);
  const nChannels = head[9] === 6 ? 4 : 3;
  if (head[8] !== 8 || (head[9] !== 6 && head[9] !== 2) || head[12] !== 0) throw new Error("a PNG of another kind than browsers write");
  const packed = inflateSync(Buffer.concat(chunks.filter((chunk) => chunk.type === "IDAT").map((chunk) => chunk.data)));
  const stride = width * nChannels;
  const lines = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = packed[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= nChannels ? lines[at - nChannels] : 0;
      const up = y > 0 ? lines[at - stride] : 0;
      const corner = x >= nChannels && y > 0 ? lines[at - stride - nChannels] : 0;
      const added = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      lines[at] = packed[y * (stride + 1) + 1 + x] + added;
    }
  }
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) for (let c = 0; c < 3; c++) rgb[i * 3 + c] = lines[i * nChannels + c];
  return { width, height, rgb };
}

interface Colour {
  rgb: [number, number, number];
  n: number;
}

/** The boxes of a median cut over the colours, each as its average. */
function paletteOf(colours: Colour[]): [number, number, number][] {
  const boxes = [colours];
  const spread = (box: Colour[]): { channel: number; size: number } => {
    let best = { channel: 0, size: 0 };
    const n = box.reduce((sum, one) => sum + one.n, 0);
    for (let channel = 0; channel < 3; channel++) {
      const values = box.map((one) => one.rgb[channel]);
      const size = (Math.max(...values) - Math.min(...values)) * Math.sqrt(n);
      if (size > best.size) best = { channel, size };
    }
    return best;
  };
  const spreads = [spread(colours)];
  while (boxes.length < 256) {
    const widest = spreads.reduce((best, one, index) => (one.size > spreads[best].size ? index : best), 0);
    if (spreads[widest].size === 0) break;
    const { channel } = spreads[widest];
    const box = boxes[widest].sort((a, b) => a.rgb[channel] - b.rgb[channel]);
    const half = box.reduce((sum, one) => sum + one.n, 0) / 2;
    let at = 1;
    for (let seen = box[0].n; at < box.length - 1 && seen + box[at].n <= half; at++) seen += box[at].n;
    const [low, high] = [box.slice(0, at), box.slice(at)];
    boxes[widest] = low;
    spreads[widest] = spread(low);
    boxes.push(high);
    spreads.push(spread(high));
  }
  return boxes.map((box) => {
    const n = box.reduce((sum, one) => sum + one.n, 0);
    const average = (channel: number): number => Math.round(box.reduce((sum, one) => sum + one.rgb[channel] * one.n, 0) / n);
    return [average(0), average(1), average(2)];
  });
}

function nearest(palette: readonly [number, number, number][], rgb: readonly number[]): number {
  let best = 0;
  let bestDistance = Infinity;
  for (const [index, colour] of palette.entries()) {
    const distance = (colour[0] - rgb[0]) ** 2 + (colour[1] - rgb[1]) ** 2 + (colour[2] - rgb[2]) ** 2;
    if (distance < bestDistance) [best, bestDistance] = [index, distance];
  }
  return best;
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let crc = n;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 255];
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 4);
  return out;
}

/** The same picture with at most 256 colours. */
export function shrink(png: Buffer): Buffer {
  const { width, height, rgb } = decode(png);
  const counts = new Map<number, number>();
  const keyAt = (i: number): number => (rgb[i * 3] << 16) | (rgb[i * 3 + 1] << 8) | rgb[i * 3 + 2];
  for (let i = 0; i < width * height; i++) counts.set(keyAt(i), (counts.get(keyAt(i)) ?? 0) + 1);
  const colours = [...counts].map(([key, n]): Colour => ({ rgb: [key >> 16, (key >> 8) & 255, key & 255], n }));
  const palette = paletteOf(colours);
  const indexOf = new Map(colours.map((one) => [(one.rgb[0] << 16) | (one.rgb[1] << 8) | one.rgb[2], nearest(palette, one.rgb)]));
  const lines = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = indexOf.get(keyAt(y * width + x))!;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    png.subarray(0, 8), chunk("IHDR", head), chunk("PLTE", Uint8Array.from(palette.flat())),
    chunk("IDAT", deflateSync(lines, { level: 9 })), chunk("IEND", new Uint8Array()),
  ]);
}
