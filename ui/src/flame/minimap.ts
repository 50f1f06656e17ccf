// SPDX-License-Identifier: Apache-2.0
// The overview above the graph: all of it, squeezed into a strip, and which part is shown. Dragging that part moves it;
// dragging elsewhere marks a new one.

import { cssColour } from "./colour.ts";
import { type Geometry, Strip, context2d } from "./graph.ts";
import { type Scene, paintLevel } from "./paint.ts";
import { type Range, clampRange } from "./range.ts";

export class Minimap {
  private readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly strip = new Strip();
  private nRows = 0;
  private nLevels = 0;
  private isFlame = false;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    this.context = context2d(canvas, {}); /* not opaque: it would be black until it is painted */
  }

  /** Paints all of the tree; only when the tree, its colours, the search or the size changed. */
  paint(scene: Scene, width: number, height: number, isFlame: boolean): void {
    const { tree } = scene;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.nLevels = tree.depth;
    this.nRows = Math.max(1, Math.min(tree.depth, height));
    this.isFlame = isFlame;
    this.strip.resize(width, this.nRows);
    const whole = { ...scene, v0: 0, v1: tree.width[0], nPixels: width };
    for (let r = 0; r < this.nRows; r++) {
      const level = Math.floor(((isFlame ? this.nRows - 1 - r : r) * tree.depth) / this.nRows);
      paintLevel(whole, level, this.strip.pixels, r * width, null);
    }
    this.strip.put(this.nRows);
  }

  /** Shows which part of the graph is on the screen; `scroll` and the height of the stage say which levels. */
  draw(scene: Scene, stage: Geometry): void {
    const { context, canvas } = this;
    const { width, height } = canvas;
    const total = scene.tree.width[0];
    if (this.nRows === 0) return;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.strip.canvas, 0, 0, width, this.nRows, 0, 0, width, height);
    const from = total > 0 ? Math.floor((scene.v0 / total) * width) : 0;
    const to = total > 0 ? Math.max(from + 2, Math.ceil((scene.v1 / total) * width)) : width;
    const share = (y: number) => Math.min(1, Math.max(0, y / (this.nLevels * stage.row)));
    let [top, bottom] = [share(stage.scroll) * height, share(stage.scroll + stage.height) * height];
    if (this.isFlame) [top, bottom] = [height - bottom, height - top];
    if (to - from >= width && bottom - top >= height - 0.5) return;
    context.fillStyle = cssColour(scene.colours.background);
    context.globalAlpha = 0.65;
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    context.fillRect(from, 0, to - from, Math.round(top));
    context.fillRect(from, Math.round(bottom), to - from, height);
    context.globalAlpha = 1;
    const line = Math.max(1, Math.round(stage.ratio));
    context.strokeStyle = cssColour(scene.colours.hover);
    context.lineWidth = line;
    context.strokeRect(from + line / 2, Math.round(top) + line / 2, Math.max(line, to - from - line), Math.max(line, Math.round(bottom) - Math.round(top) - line));
  }
}

/** What dragging on the overview does. `at` is where it began, as a share of the width. */
export function dragOverview(began: Range, at: number, now: number, total: number): Range {
  const x = at * total;
  const isAll = began.v1 - began.v0 >= total * 0.999;
  if (!isAll && x >= began.v0 && x <= began.v1) return clampRange(began.v0 + (now - at) * total, began.v1 + (now - at) * total, total);
  if (Math.abs(now - at) < 0.004) {
    const half = (began.v1 - began.v0) / 2;
    return clampRange(x - half, x + half, total);
  }
  return clampRange(Math.min(at, now) * total, Math.max(at, now) * total, total);
}

/** What the overview asks of the view. */
export interface Overviewed {
  range(): Range;
  total(): number;
  show(range: Range): void;
  showAll(): void;
}

/** Listens until `signal` is aborted. Keys do the same on the graph itself. */
export function listenToOverview(map: HTMLCanvasElement, view: Overviewed, signal: AbortSignal): void {
  let began: { range: Range; at: number } | null = null;
  const shareAt = (event: PointerEvent) => {
    const rect = map.getBoundingClientRect();
    return rect.width > 0 ? Math.min(1, Math.max(0, (event.clientX - rect.left) / rect.width)) : 0;
  };
  const on = (type: "pointerdown" | "pointermove" | "pointerup" | "pointercancel", handle: (event: PointerEvent) => void) =>
    map.addEventListener(type, handle, { signal });
  const move = (event: PointerEvent) => {
    if (began) view.show(dragOverview(began.range, began.at, shareAt(event), view.total()));
  };
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    map.setPointerCapture(event.pointerId);
    began = { range: view.range(), at: shareAt(event) };
  });
  on("pointermove", move);
  on("pointerup", (event) => {
    move(event);
    began = null;
  });
  on("pointercancel", () => (began = null));
  map.addEventListener("dblclick", () => view.showAll(), { signal });
}
