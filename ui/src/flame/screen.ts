// SPDX-License-Identifier: Apache-2.0
// The boxes and canvases of a flame graph on the page, their sizes, and when they are drawn: once in an animation frame, by
// whoever owns the screen, from what is true then.

import "./flame.css";
import { type Geometry, Graph, Overlay, type Outline, rowFor } from "./graph.ts";
import { Minimap } from "./minimap.ts";
import type { Scene } from "./paint.ts";

function element<K extends keyof HTMLElementTagNameMap>(parent: HTMLElement, tag: K, name: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = name;
  parent.append(made);
  if (tag === "canvas") made.setAttribute("aria-hidden", "true");
  return made;
}

/** What the owner of a screen does when it is time. */
export interface ScreenOwner {
  draw(): void;
  /** Sizes changed; frames that were `before` pixels high are now as high as geometry.row says. */
  resized(before: number): void;
}

export class Screen {
  readonly stage: HTMLElement;
  readonly map: HTMLCanvasElement | null;
  readonly graph: Graph;
  geometry: Geometry = { width: 0, height: 0, ratio: 1, row: rowFor(1), isFlame: false, scroll: 0 };
  private readonly root: HTMLElement;
  private readonly live: HTMLElement;
  private readonly overlay: Overlay;
  private readonly minimap: Minimap | null;
  private readonly observer: ResizeObserver;
  private readonly owner: ScreenOwner;
  private frameRequest = 0;

  constructor(host: HTMLElement, hasOverview: boolean, owner: ScreenOwner) {
    this.owner = owner;
    this.root = element(host, "div", "flame");
    this.map = hasOverview ? element(this.root, "canvas", "flame-map") : null;
    this.minimap = this.map ? new Minimap(this.map) : null;
    this.stage = element(this.root, "div", "flame-stage");
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "application");
    this.stage.setAttribute("aria-roledescription", "flame graph");
    this.live = element(this.root, "div", "flame-live");
    this.live.setAttribute("aria-live", "polite");
    this.graph = new Graph(element(this.stage, "canvas", "flame-graph"));
    this.overlay = new Overlay(element(this.stage, "canvas", "flame-overlay"));
    this.observer = new ResizeObserver((entries) => {
      const size = entries[entries.length - 1].devicePixelContentBoxSize?.[0];
      this.measure(size?.inlineSize, size?.blockSize);
    });
  }

  /** Begins to follow sizes. Apart from the constructor, since the owner hears of it. */
  start(): void {
    try {
      this.observer.observe(this.stage, { box: "device-pixel-content-box" });
    } catch {
      this.observer.observe(this.stage);
    }
    this.measure();
  }

  private measure(width?: number, height?: number): void {
    const ratio = window.devicePixelRatio || 1;
    const before = this.geometry;
    width ??= Math.round(this.stage.clientWidth * ratio);
    height ??= Math.round(this.stage.clientHeight * ratio);
    if (width === before.width && height === before.height && ratio === before.ratio) return;
    this.geometry = { ...before, width, height, ratio, row: rowFor(ratio) };
    this.graph.restyle();
    this.owner.resized(before.row);
    /* A canvas that changes its size is empty: it is filled within the same frame, or the page would flicker. */
    if (before.width !== 0) this.drawNow();
  }

  request(): void {
    if (this.frameRequest === 0) this.frameRequest = requestAnimationFrame(() => this.drawNow());
  }

  drawNow(): void {
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = 0;
    if (this.geometry.width > 0 && this.geometry.height > 0) this.owner.draw();
  }

  drawGraph(scene: Scene): void {
    this.graph.draw(scene, this.geometry);
  }

  /** Draws, above the graph, which part of everything that is; everything is painted anew only if it changed. */
  drawOverview(scene: Scene, isNew: boolean): void {
    const { geometry, map, minimap } = this;
    const height = map ? Math.round(map.clientHeight * geometry.ratio) : 0;
    if (!minimap || height === 0) return;
    if (isNew) minimap.paint(scene, geometry.width, height, geometry.isFlame);
    minimap.draw(scene, geometry);
  }

  drawOutlines(scene: Scene, outlines: readonly Outline[]): void {
    this.overlay.draw(scene, this.geometry, outlines);
  }

  /** Where a place of the window is on the stage, in device pixels; null if outside. */
  placeOf(x: number, y: number): { x: number; y: number } | null {
    const rect = this.stage.getBoundingClientRect();
    const { width, height } = this.geometry;
    if (x < rect.left || y < rect.top || x >= rect.right || y >= rect.bottom) return null;
    return { x: Math.floor(((x - rect.left) / rect.width) * width), y: Math.floor(((y - rect.top) / rect.height) * height) };
  }

  /** Where a place on the stage, in device pixels, is in the window. */
  windowPlaceOf(x: number, y: number): { x: number; y: number } {
    const rect = this.stage.getBoundingClientRect();
    const { ratio } = this.geometry;
    return { x: rect.left + Math.min(rect.width, Math.max(0, x / ratio)), y: rect.top + Math.min(rect.height, Math.max(0, y / ratio)) };
  }

  /** Pixels of the page that are not the stage. */
  get surroundings(): number {
    return this.root.clientHeight - this.stage.clientHeight;
  }

  label(text: string): void {
    this.stage.setAttribute("aria-label", text);
  }

  /** Says something to those who listen. */
  tell(text: string): void {
    this.live.textContent = text;
  }

  destroy(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.frameRequest);
    this.root.remove();
  }
}
