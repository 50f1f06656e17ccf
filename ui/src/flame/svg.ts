// SPDX-License-Identifier: Apache-2.0
// What is shown, as SVG: the same pixels as runs of rectangles, with texts that can be read and searched.

import { cssColour } from "./colour.ts";
import { cleanName } from "./labels.ts";
import { LabelList, type Scene, paintLevel } from "./paint.ts";
import { INLINED, levelsWithin } from "./tree.ts";

const ROW = 18;
const FONT = 11.5;
const MAX_WIDTH = 8192;

/** Text for XML: what has a meaning there is escaped, what is not allowed there is replaced. */
export function escapeXml(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

interface SvgOptions {
  isFlame: boolean;
  /** Says how much a frame is. */
  describe(node: number): string;
  /** What fits on a frame of so many pixels. */
  fit(name: number, width: number): string;
}

/** All levels of the part of the graph that is shown, in CSS pixels. */
export function drawSvg(given: Scene, options: SvgOptions): string {
  const { tree, colours } = given;
  const scene = { ...given, nPixels: Math.min(given.nPixels, MAX_WIDTH) };
  const nLevels = levelsWithin(tree, scene.v0, scene.v1);
  const yOf = (level: number) => (options.isFlame ? nLevels - 1 - level : level) * ROW;
  const row = new Uint32Array(scene.nPixels);
  const labels = new LabelList(24);
  const rects: string[] = [];
  for (let level = 0; level < nLevels; level++) {
    paintLevel(scene, level, row, 0, labels);
    for (let x = 0, end = 0; x < row.length; x = end) {
      for (end = x; end < row.length && row[end] === row[x]; ) end++;
      if (row[x] !== colours.background)
        rects.push(`<rect x="${x}" y="${yOf(level)}" width="${end - x}" height="${ROW - 1}" fill="${cssColour(row[x])}"/>`);
    }
  }
  const texts: string[] = [];
  for (let i = 0; i < labels.n * 4; i += 4) {
    const [x, width, level, node] = labels.numbers.subarray(i, i + 4);
    const text = options.fit(tree.name[node], width);
    const isHit = scene.hits !== null && colours.ofName !== null && ((scene.hits[node >>> 5] >>> (node & 31)) & 1) === 1;
    const style = `${isHit ? ` fill="${cssColour(colours.hitText)}"` : ""}${(tree.flags?.[node] ?? 0) & INLINED ? ' font-style="italic"' : ""}`;
    const title = `<title>${escapeXml(cleanName(options.describe(node)))}</title>`;
    if (text !== "") texts.push(`<text x="${x + 4}" y="${yOf(level) + 13}"${style}>${title}${escapeXml(text)}</text>`);
  }
  const size = `width="${scene.nPixels}" height="${nLevels * ROW}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${scene.nPixels} ${nLevels * ROW}">`,
    `<rect ${size} fill="${cssColour(colours.background)}"/>`,
    `<g shape-rendering="crispEdges">`,
    ...rects,
    `</g>`,
    `<g font-family="ui-monospace, monospace" font-size="${FONT}" fill="${cssColour(colours.text)}">`,
    ...texts,
    `</g>`,
    `</svg>`,
    ``,
  ].join("\n");
}
