// SPDX-License-Identifier: Apache-2.0
// The texts on frames. They are cut by counting characters of a fixed-width font, measured once; names with anything but
// ASCII are measured, since their characters may be wider or none.

import { type Colours, cssColour } from "./colour.ts";
import type { LabelList } from "./paint.ts";
import { type FlameTree, INLINED } from "./tree.ts";

const MAX_LABEL = 400;
const MIN_CHARACTERS = 3;
/* Control characters, and those that turn the direction of the text around them. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A name as one line that cannot disturb what is around it. */
export function cleanName(name: string): string {
  return name.slice(0, MAX_LABEL).replace(UNSEEN, "\u00b7");
}

/** The end of a name, for frames that are too narrow for all of it: without folders, packages and outer namespaces. */
export function shortName(name: string): string {
  const head = name.search(/[<({[]/);
  const plain = head < 0 ? name : name.slice(0, head);
  const after = plain.lastIndexOf("/") + 1;
  const parts = plain.slice(after).split(/::|\.(?=[^.])/);
  if (plain.includes("::") && parts.length > 2) return name.slice(plain.lastIndexOf("::", plain.lastIndexOf("::") - 1) + 2);
  if (parts.length > 3) return name.slice(plain.lastIndexOf(".", plain.lastIndexOf(".") - 1) + 1);
  return name.slice(after);
}

interface Text {
  full: string;
  short: string;
  isAscii: boolean;
}

/** Where and how texts are drawn, in device pixels. */
export interface LabelStyle {
  font: string;
  characterWidth: number;
  padding: number;
  /** From the top of a frame to the line on which letters stand. */
  baseline: number;
}

export class Labels {
  private texts: (Text | undefined)[] = [];
  private tree: FlameTree | null = null;

  private textOf(tree: FlameTree, name: number): Text {
    if (this.tree !== tree) {
      if (this.tree?.names !== tree.names) this.texts = [];
      this.tree = tree;
    }
    const known = this.texts[name];
    if (known) return known;
    const full = cleanName(tree.names[name]);
    return (this.texts[name] = { full, short: shortName(full), isAscii: /^[ -~]*$/.test(full) });
  }

  /** What fits `width` pixels of the name: all, its end, or the beginning of its end; empty if too little does. */
  fit(context: CanvasRenderingContext2D, style: LabelStyle, tree: FlameTree, name: number, width: number): string {
    const { full, short, isAscii } = this.textOf(tree, name);
    const room = width - 2 * style.padding;
    const n = Math.floor(room / style.characterWidth);
    if (!isAscii) return fitMeasured(context, full, room);
    if (full.length <= n) return full;
    if (short.length <= n) return short;
    return n < MIN_CHARACTERS ? "" : `${short.slice(0, n - 1)}\u2026`;
  }

  /** Draws all labels. `yOf` is the top of a level. */
  draw(context: CanvasRenderingContext2D, style: LabelStyle, tree: FlameTree, list: LabelList, colours: Colours, hits: Uint32Array | null, yOf: (level: number) => number): void {
    const later: number[][] = [[], [], []]; /* inlined, found, both: fonts and colours change once for each */
    const { numbers, n } = list;
    const drawOne = (i: number) => {
      const text = this.fit(context, style, tree, tree.name[numbers[i + 3]], numbers[i + 1]);
      if (text !== "") context.fillText(text, numbers[i] + style.padding, yOf(numbers[i + 2]) + style.baseline);
    };
    const text = cssColour(colours.text);
    context.font = style.font;
    context.fillStyle = text;
    for (let i = 0; i < n * 4; i += 4) {
      const node = numbers[i + 3];
      const isInlined = tree.flags !== null && (tree.flags[node] & INLINED) !== 0;
      const isHit = hits !== null && colours.ofName !== null && ((hits[node >>> 5] >>> (node & 31)) & 1) === 1;
      if (!isInlined && !isHit) drawOne(i);
      else later[(isInlined ? 1 : 0) + (isHit ? 2 : 0) - 1].push(i);
    }
    later.forEach((indexes, group) => {
      if (indexes.length === 0) return;
      context.font = group === 1 ? style.font : `italic ${style.font}`;
      context.fillStyle = group === 0 ? text : cssColour(colours.hitText);
      indexes.forEach(drawOne);
    });
  }
}

/** As much of a text as fits, by measuring. */
function fitMeasured(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  let [low, high] = [0, letters.length];
  const cut = (n: number) => `${letters.slice(0, n).join("")}\u2026`;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (context.measureText(cut(middle)).width <= room) low = middle;
    else high = middle - 1;
  }
  return low < MIN_CHARACTERS - 1 ? "" : cut(low);
}
