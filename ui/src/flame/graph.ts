// SPDX-License-Identifier: Apache-2.0
// Puts rows of pixels on the screen: all visible levels are painted into a small image, one row each, which is stretched to
// the height of frames in one go; then come lines between levels and texts. Everything is drawn anew on each change, which was
// measured to be faster than keeping parts.

import { cssColour } from "./colour.ts";
import { type LabelStyle, Labels } from "./labels.ts";
import { LabelList, type Scene, paintLevel } from "./paint.ts";
import { type FlameTree, levelOf } from "./tree.ts";

const ROW = 18;
const FONT = 11.5;
const MIN_LABEL = 24;

/** Sizes in device pixels. Frames are a whole number of them high at any ratio, so that nothing blurs. */
export interface Geometry {
  width: number;
  height: number;
  ratio: number;
  row: number;
  isFlame: boolean;
  scroll: number;
}

export function rowFor(ratio: number): number {
  return Math.round(ROW * ratio);
}

/** Where the top of a level is. Of a flame, the root stands at the bottom. */
export function yOfLevel(geometry: Geometry, level: number): number {
  const { row, scroll, height, isFlame } = geometry;
  return isFlame ? height - (level + 1) * row + scroll : level * row - scroll;
}

export function levelAt(geometry: Geometry, y: number): number {
  const { row, scroll, height, isFlame } = geometry;
  return Math.floor((isFlame ? height - 1 - Math.floor(y) + scroll : y + scroll) / row);
}

export function context2d(canvas: HTMLCanvasElement, settings: CanvasRenderingContext2DSettings): CanvasRenderingContext2D {
  const context = canvas.getContext("2d", settings);
  if (!context) throw new Error("This browser cannot draw: it has no 2D canvas.");
  return context;
}

/** A small image that is painted by pixels. */
export class Strip {
  readonly canvas = document.createElement("canvas");
  private readonly context = context2d(this.canvas, { alpha: false, willReadFrequently: true });
  private image = new ImageData(1, 1);
  pixels = new Uint32Array(1);

  resize(width: number, nRows: number): void {
    if (this.image.width === width && this.image.height >= nRows) return;
    this.canvas.width = width;
    this.canvas.height = nRows;
    this.image = new ImageData(width, nRows);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** Brings the first rows of pixels to the canvas. */
  put(nRows: number): void {
    this.context.putImageData(this.image, 0, 0, 0, 0, this.image.width, nRows);
  }
}

export class Graph {
  readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly strip = new Strip();
  private readonly labels = new Labels();
  private readonly list = new LabelList(MIN_LABEL);
  private style: LabelStyle = { font: "", characterWidth: 1, padding: 0, baseline: 0 };
  private styledFor = "";

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.context = context2d(canvas, { alpha: false });
  }

  /** The font, measured once for each ratio. */
  private styleFor(geometry: Geometry): LabelStyle {
    const family = getComputedStyle(this.canvas).fontFamily || "monospace";
    const key = `${geometry.ratio} ${family}`;
    if (this.styledFor !== key) {
      const font = `${FONT * geometry.ratio}px ${family}`;
      this.context.font = font;
      const measured = this.context.measureText("x".repeat(100));
      const ascent = this.context.measureText("X").actualBoundingBoxAscent;
      this.style = { font, characterWidth: measured.width / 100, padding: Math.round(4 * geometry.ratio), baseline: Math.round((geometry.row - 1 + ascent) / 2) };
      this.styledFor = key;
    }
    return this.style;
  }

  /** To be called when fonts or sizes may have changed. */
  restyle(): void {
    this.styledFor = "";
  }

  private currentStyle(geometry: Geometry): LabelStyle {
    return this.styledFor === "" ? this.styleFor(geometry) : this.style;
  }

  draw(scene: Scene, geometry: Geometry): void {
    const { context, canvas, strip, list } = this;
    const { width, height, row, isFlame } = geometry;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      this.restyle();
    }
    const first = Math.max(0, Math.floor(geometry.scroll / row));
    const nRows = Math.min(Math.ceil((geometry.scroll + height) / row) - first, Math.ceil(height / row) + 1);
    strip.resize(width, Math.ceil(height / row) + 1);
    list.n = 0;
    list.minimum = Math.round(MIN_LABEL * geometry.ratio);
    for (let r = 0; r < nRows; r++) paintLevel(scene, isFlame ? first + nRows - 1 - r : first + r, strip.pixels, r * width, list);
    strip.put(nRows);
    const top = yOfLevel(geometry, isFlame ? first + nRows - 1 : first);
    const background = cssColour(scene.colours.background);
    context.fillStyle = background;
    if (isFlame && top > 0) context.fillRect(0, 0, width, top);
    context.imageSmoothingEnabled = false;
    context.drawImage(strip.canvas, 0, 0, width, nRows, 0, top, width, nRows * row);
    for (let r = 1; r <= nRows; r++) context.fillRect(0, top + r * row - 1, width, 1);
    context.textBaseline = "alphabetic";
    context.direction = "ltr";
    this.labels.draw(context, this.currentStyle(geometry), scene.tree, list, scene.colours, scene.hits, (level) => yOfLevel(geometry, level));
  }

  /** The text that a frame of this width gets. */
  fit(tree: FlameTree, name: number, width: number, geometry: Geometry): string {
    const style = this.currentStyle(geometry);
    this.context.font = style.font;
    return this.labels.fit(this.context, style, tree, name, width);
  }
}

export interface Outline {
  node: number;
  colour: "hover" | "selected";
  /** In pixels of the page. */
  thickness: number;
}

/** Outlines of frames on a canvas above the graph, which need not be drawn anew for them. */
export class Overlay {
  private readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private drawn: [number, number, number, number][] = [];

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.context = context2d(canvas, {});
  }

  draw(scene: Scene, geometry: Geometry, outlines: readonly Outline[]): void {
    const { context, canvas } = this;
    const { width, height, row } = geometry;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    } else for (const rect of this.drawn) context.clearRect(...rect);
    this.drawn = [];
    const scale = width / (scene.v1 - scene.v0);
    for (const { node, colour, thickness } of outlines) {
      if (node < 0) continue;
      const line = Math.max(1, Math.round(thickness * geometry.ratio));
      const x = Math.floor((scene.tree.left[node] - scene.v0) * scale);
      const end = Math.floor((scene.tree.left[node] + scene.tree.width[node] - scene.v0) * scale);
      const from = Math.max(-line, x);
      const to = Math.min(width + line, Math.max(end, x + line * 2 + 1));
      const y = yOfLevel(geometry, levelOf(scene.tree, node));
      if (to <= 0 || from >= width || y + row <= 0 || y >= height) continue;
      context.strokeStyle = cssColour(scene.colours[colour]);
      context.lineWidth = line;
      context.strokeRect(from + line / 2, y + line / 2, to - from - line, row - 1 - line);
      this.drawn.push([from - 1, y - 1, to - from + 2, row + 2]);
    }
  }
}
