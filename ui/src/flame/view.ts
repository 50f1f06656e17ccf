// SPDX-License-Identifier: Apache-2.0
// The flame graph as people see and use it: which part of which tree is shown, what is selected and searched for, and how that
// changes by pointer, touch and keys. It knows no framework; whoever hosts it hears of changes by the functions of `on`.

import { type Colouring, type Colours, type Theme, coloursFor } from "./colour.ts";
import "./flame.css";
import { type Geometry, Graph, Overlay, levelAt, rowFor, yOfLevel } from "./graph.ts";
import { listen } from "./input.ts";
import { Minimap, dragOverview } from "./minimap.ts";
import type { Scene } from "./paint.ts";
import { type Range, betweenRanges, enclosingNode, panRange, rangeOf, zoomRange } from "./range.ts";
import { Search } from "./search.ts";
import { drawSvg } from "./svg.ts";
import { type FlameTree, findPath, levelOf, levelsWithin, nameOf, nodeAt, pathOf } from "./tree.ts";
import { type Step, describe, stepFrom } from "./walk.ts";

export type { Colouring, Theme } from "./colour.ts";
export type Direction = "icicle" | "flame";

/** What a search found within what is shown. */
export interface Searched {
  /** Value of the frames found, each part of the graph counted once, and its share of what is shown. */
  value: number;
  share: number;
  /** Frames found in the whole graph. */
  nHits: number;
}

export interface FlameEvents {
  /** Another frame spans what is shown; 0 when everything is. */
  zoom?(node: number): void;
  /** The pointer is over a frame (or none: -1), at x and y of the window. */
  hover?(node: number, x: number, y: number): void;
  select?(node: number): void;
  /** The menu of a frame (or none: -1) is asked for, at x and y of the window. */
  menu?(node: number, x: number, y: number): void;
  /** Null when there is no search. */
  searched?(result: Searched | null): void;
}

export interface FlameOptions {
  tree: FlameTree;
  theme?: Theme;
  colour: Colouring;
  direction: Direction;
  /** Without animation. */
  isReduced: boolean;
  hasOverview?: boolean;
  /** Writes a value for the text told to screen readers. */
  format?(value: number): string;
  on: FlameEvents;
}

interface Motion {
  from: Range;
  to: Range;
  fromScroll: number;
  toScroll: number;
  began: number;
}

const MOTION_MS = 240;
const SETTLE_MS = 120;
const KEY_ZOOM = 1.5;
const HELP = "Arrow keys walk from frame to frame, Enter zooms to one, Escape shows everything, plus and minus zoom.";

function element<K extends keyof HTMLElementTagNameMap>(parent: HTMLElement, tag: K, name: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = name;
  parent.append(made);
  return made;
}

export class FlameView {
  private tree: FlameTree;
  private readonly options: FlameOptions;
  private readonly root: HTMLElement;
  private readonly map: HTMLCanvasElement;
  private readonly stage: HTMLElement;
  private readonly live: HTMLElement;
  private readonly graph: Graph;
  private readonly overlay: Overlay;
  private readonly minimap: Minimap | null;
  private readonly observer: ResizeObserver;
  private readonly ending = new AbortController();

  private colours: Colours;
  private range: Range;
  private geometry: Geometry = { width: 0, height: 0, ratio: 1, row: rowFor(1), isFlame: false, scroll: 0 };
  private search: Search | null = null;
  private pattern: RegExp | null = null;
  private motion: Motion | null = null;
  private zoomedNode = 0;
  private selectedNode = -1;
  private hoveredNode = -1;
  private pointer: { x: number; y: number } | null = null;
  private isFocused = false;

  private frameRequest = 0;
  private settleTimer = 0;
  /* What the next animation frame has to draw. */
  private needsGraph = true;
  private needsMap = true;
  private needsPoint = false;

  constructor(host: HTMLElement, options: FlameOptions) {
    this.options = { ...options };
    this.tree = options.tree;
    this.range = rangeOf(this.tree, 0);
    this.colours = coloursFor(this.tree, options.colour, options.theme ?? "light");
    this.root = element(host, "div", "flame");
    this.map = element(this.root, "canvas", "flame-map");
    this.map.setAttribute("aria-hidden", "true");
    this.stage = element(this.root, "div", "flame-stage");
    this.live = element(this.root, "div", "flame-live");
    this.live.setAttribute("aria-live", "polite");
    this.graph = new Graph(this.makeCanvas("flame-graph"));
    this.overlay = new Overlay(this.makeCanvas("flame-overlay"));
    const hasOverview = options.hasOverview ?? true;
    this.minimap = hasOverview ? new Minimap(this.map) : null;
    if (!hasOverview) this.map.remove();
    this.nameStage();
    this.listenToStage();
    if (hasOverview) this.listenToMap();
    this.observer = new ResizeObserver((entries) => this.resized(entries[entries.length - 1]));
    this.observe();
    this.measure();
  }

  private makeCanvas(name: string): HTMLCanvasElement {
    const canvas = element(this.stage, "canvas", name);
    canvas.setAttribute("aria-hidden", "true");
    return canvas;
  }

  private nameStage(): void {
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "application");
    this.stage.setAttribute("aria-roledescription", "flame graph");
    this.stage.setAttribute("aria-label", `Flame graph of ${this.tree.n.toLocaleString()} frames. ${HELP}`);
  }

  // --- what the host may ask for ---

  /** Shows another tree. With `keepsZoom` what was shown and selected is looked for in it by names. */
  setTree(tree: FlameTree, keepsZoom: boolean): void {
    const old = this.tree;
    const [zoomed, selected] = [this.zoomedNode, this.selectedNode];
    const moved = (node: number) => findPath(tree, pathOf(old, node).map((at) => nameOf(old, at)), node === zoomed);
    this.tree = tree;
    this.motion = null;
    this.hoveredNode = -1;
    this.colours = coloursFor(tree, this.options.colour, this.options.theme ?? "light");
    this.zoomedNode = keepsZoom ? moved(zoomed) : 0;
    this.selectedNode = keepsZoom && selected >= 0 ? moved(selected) : -1;
    this.range = rangeOf(tree, this.zoomedNode);
    if (keepsZoom && old.width[zoomed] > 0) this.range = this.keepPart(this.range, rangeOf(old, zoomed), this.geometry.width);
    if (!keepsZoom) this.geometry.scroll = 0;
    this.search = this.pattern ? new Search(tree, this.pattern) : null;
    this.nameStage();
    this.redraw(true);
    this.settle();
  }

  /** The part of `next` that corresponds to the part of `last` which is shown now. */
  private keepPart(next: Range, last: Range, nPixels: number): Range {
    const shown = this.shownBefore ?? last;
    const scale = (next.v1 - next.v0) / (last.v1 - last.v0);
    const [v0, v1] = [next.v0 + (shown.v0 - last.v0) * scale, next.v0 + (shown.v1 - last.v0) * scale];
    const isWhole = Math.abs(v0 - next.v0) + Math.abs(v1 - next.v1) < (next.v1 - next.v0) / Math.max(1, nPixels);
    return isWhole || !(v1 > v0) ? next : panRange({ v0, v1 }, 0, this.tree.width[0]);
  }

  setColour(colour: Colouring): void {
    this.options.colour = colour;
    this.recolour();
  }

  setTheme(theme: Theme): void {
    this.options.theme = theme;
    this.recolour();
  }

  private recolour(): void {
    this.colours = coloursFor(this.tree, this.options.colour, this.options.theme ?? "light");
    this.graph.restyle();
    this.redraw(true);
  }

  setDirection(direction: Direction): void {
    this.options.direction = direction;
    this.geometry.isFlame = direction === "flame";
    this.redraw(true);
  }

  setReduced(isReduced: boolean): void {
    this.options.isReduced = isReduced;
  }

  /** Lights the frames whose names match; null ends the search. */
  setSearch(pattern: RegExp | null): void {
    this.pattern = pattern;
    this.search = pattern ? new Search(this.tree, pattern) : null;
    this.redraw(true);
    this.tellSearched();
  }

  /** Goes to the next (1) or previous (-1) frame found and selects it. Returns it, or -1. */
  nextHit(direction: 1 | -1): number {
    const found = this.search?.next(this.selectedNode, direction) ?? -1;
    if (found >= 0) this.choose(found, true);
    return found;
  }

  /** Lets a frame fill the width; 0 shows everything. */
  zoomTo(node: number): void {
    const to = rangeOf(this.tree, node);
    this.moveTo(to, this.scrollFor(node, to));
  }

  get zoomed(): number {
    return this.zoomedNode;
  }

  /** Selects a frame and brings it into view; -1 selects none. */
  select(node: number): void {
    this.selectedNode = node;
    if (node >= 0) this.reveal(node);
    this.request();
  }

  get selected(): number {
    return this.selectedNode;
  }

  /** Height in pixels of the page that shows all levels without scrolling. */
  get contentHeight(): number {
    const { ratio, row } = this.geometry;
    return Math.ceil((this.tree.depth * row) / ratio) + (this.minimap ? this.root.clientHeight - this.stage.clientHeight : 0);
  }

  focus(): void {
    this.stage.focus({ preventScroll: true });
  }

  toPNG(): Promise<Blob> {
    this.drawNow();
    return new Promise((resolve, reject) => {
      this.graph.canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("This browser could not write the picture. Make the window smaller."))), "image/png");
    });
  }

  toSVG(): string {
    const { geometry, tree } = this;
    const nPixels = Math.max(1, Math.round(geometry.width / geometry.ratio));
    return drawSvg({ ...this.scene, nPixels }, {
      isFlame: geometry.isFlame,
      describe: (node) => this.describe(node),
      fit: (name, width) => this.graph.fit(tree, name, width * geometry.ratio, geometry),
    });
  }

  destroy(): void {
    this.ending.abort();
    this.observer.disconnect();
    cancelAnimationFrame(this.frameRequest);
    clearTimeout(this.settleTimer);
    this.root.remove();
  }

  // --- sizes ---

  private observe(): void {
    try {
      this.observer.observe(this.stage, { box: "device-pixel-content-box" });
    } catch {
      this.observer.observe(this.stage);
    }
  }

  private resized(entry: ResizeObserverEntry): void {
    const size = entry.devicePixelContentBoxSize?.[0];
    if (size) this.measure(size.inlineSize, size.blockSize);
    else this.measure();
  }

  private measure(width?: number, height?: number): void {
    const ratio = window.devicePixelRatio || 1;
    const before = this.geometry;
    width ??= Math.round(this.stage.clientWidth * ratio);
    height ??= Math.round(this.stage.clientHeight * ratio);
    if (width === before.width && height === before.height && ratio === before.ratio) return;
    this.geometry = {
      width,
      height,
      ratio,
      row: rowFor(ratio),
      isFlame: this.options.direction === "flame",
      scroll: Math.round((before.scroll / before.row) * rowFor(ratio)),
    };
    if (before.ratio !== ratio) this.graph.restyle();
    this.redraw(true);
    /* Setting the size of a canvas empties it: it is filled within the same frame, or the page would flicker. */
    if (before.width !== 0) this.drawNow();
  }

  private get scene(): Scene {
    const { tree, colours, range, geometry } = this;
    return { tree, colours, hits: this.search?.hits ?? null, v0: range.v0, v1: range.v1, nPixels: geometry.width };
  }

  private maxScroll(range: Range): number {
    return Math.max(0, levelsWithin(this.tree, range.v0, range.v1) * this.geometry.row - this.geometry.height);
  }

  // --- drawing: once in an animation frame, from what is true then ---

  private redraw(withMap: boolean): void {
    this.needsGraph = true;
    this.needsMap ||= withMap;
    this.request();
  }

  private request(): void {
    if (this.frameRequest === 0) this.frameRequest = requestAnimationFrame(() => this.drawNow());
  }

  private drawNow(): void {
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = 0;
    const { geometry } = this;
    if (geometry.width < 1 || geometry.height < 1) return;
    if (this.motion) this.advance(this.motion);
    if (this.needsGraph) this.drawGraph();
    if (this.needsPoint) this.pointNow();
    this.overlay.draw(this.scene, geometry, [
      { node: this.hoveredNode, level: this.hoveredNode < 0 ? 0 : levelOf(this.tree, this.hoveredNode), colour: "hover", thickness: 1 },
      { node: this.selectedNode, level: this.selectedNode < 0 ? 0 : levelOf(this.tree, this.selectedNode), colour: "selected", thickness: this.isFocused ? 2.5 : 1.5 },
    ]);
    this.shownBefore = this.range;
    if (this.motion) this.request();
  }

  private shownBefore: Range | null = null;

  private drawGraph(): void {
    const { geometry } = this;
    const limit = this.maxScroll(this.range);
    geometry.scroll = Math.max(0, Math.min(Math.round(geometry.scroll), limit));
    this.stage.classList.toggle("is-scrolling", limit > 0);
    this.graph.draw(this.scene, geometry);
    if (this.minimap) {
      const height = Math.round(this.map.clientHeight * geometry.ratio);
      if (this.needsMap && height > 0) this.minimap.paint(this.scene, geometry.width, height, geometry.isFlame);
      if (height > 0) this.minimap.draw(this.scene, geometry);
    }
    this.needsGraph = this.needsMap = false;
  }

  private advance(motion: Motion): void {
    const t = Math.min(1, (performance.now() - motion.began) / MOTION_MS);
    const eased = 1 - (1 - t) ** 3;
    this.range = betweenRanges(motion.from, motion.to, eased);
    this.geometry.scroll = motion.fromScroll + (motion.toScroll - motion.fromScroll) * eased;
    this.needsGraph = true;
    if (t < 1) return;
    this.motion = null;
    this.settle();
  }

  // --- moving ---

  private moveTo(to: Range, scroll: number): void {
    if (this.options.isReduced || this.geometry.width === 0) {
      this.range = to;
      this.geometry.scroll = scroll;
      this.motion = null;
      this.redraw(false);
      this.settle();
      return;
    }
    this.motion = { from: this.range, to, fromScroll: this.geometry.scroll, toScroll: scroll, began: performance.now() };
    this.redraw(false);
  }

  /** Moves at once, as a pointer does. */
  private moveNow(to: Range): void {
    this.motion = null;
    this.range = to;
    this.redraw(false);
    clearTimeout(this.settleTimer);
    this.settleTimer = window.setTimeout(() => this.settle(), SETTLE_MS);
  }

  /** Where to scroll so that a frame is in view with its caller before it, moving as little as possible. */
  private scrollFor(node: number, range: Range): number {
    const { row, height, scroll } = this.geometry;
    const top = levelOf(this.tree, node) * row;
    const wanted = Math.min(Math.max(scroll, top + 2 * row - height), Math.max(0, top - row));
    return Math.max(0, Math.min(wanted, this.maxScroll(range)));
  }

  /** Moves as little as needed to show a frame: not at all if it can be seen. */
  private reveal(node: number): void {
    const { left, width } = this.tree;
    const goal = this.motion?.to ?? this.range;
    const span = goal.v1 - goal.v0;
    const isSeen = left[node] < goal.v1 - span * 0.002 && left[node] + width[node] > goal.v0 + span * 0.002;
    const isWide = width[node] >= (span / Math.max(1, this.geometry.width)) * 3;
    let to = goal;
    if (!isSeen || !isWide) {
      const wanted = isWide ? span : Math.min(span, width[node] * 50);
      const middle = left[node] + width[node] / 2;
      to = panRange({ v0: middle - wanted / 2, v1: middle + wanted / 2 }, 0, this.tree.width[0]);
    }
    const scroll = this.scrollFor(node, to);
    if (to !== goal || scroll !== this.geometry.scroll) this.moveTo(to, scroll);
  }

  /** After a move: tells which frame spans what is shown, and how much of it was found. */
  private settle(): void {
    clearTimeout(this.settleTimer);
    const node = enclosingNode(this.tree, this.range);
    const isNew = node !== this.zoomedNode;
    this.zoomedNode = node;
    if (isNew) this.options.on.zoom?.(node);
    if (this.search) this.tellSearched();
  }

  private tellSearched(): void {
    const { search, range } = this;
    const goal = this.motion?.to ?? range;
    this.options.on.searched?.(search ? { ...search.share(goal.v0, goal.v1), nHits: search.nHits } : null);
  }

  // --- pointing, choosing, keys ---

  private nodeAtPoint(x: number, y: number): number {
    const rect = this.stage.getBoundingClientRect();
    const { width, height } = this.geometry;
    if (rect.width === 0 || x < rect.left || y < rect.top || x >= rect.right || y >= rect.bottom) return -1;
    const level = levelAt(this.geometry, ((y - rect.top) / rect.height) * height);
    const at = Math.floor(((x - rect.left) / rect.width) * width);
    const { v0, v1 } = this.range;
    const node = nodeAt(this.tree, level, v0 + ((at + 0.5) / width) * (v1 - v0));
    return node >= 0 ? node : nodeAt(this.tree, level, v0 + (at / width) * (v1 - v0));
  }

  private pointNow(): void {
    this.needsPoint = false;
    const { pointer } = this;
    const node = pointer ? this.nodeAtPoint(pointer.x, pointer.y) : -1;
    const isNews = node >= 0 || this.hoveredNode >= 0;
    this.hoveredNode = node;
    if (isNews) this.options.on.hover?.(node, pointer?.x ?? 0, pointer?.y ?? 0);
  }

  private pointAt(pointer: { x: number; y: number } | null): void {
    this.pointer = pointer;
    this.needsPoint = true;
    this.request();
  }

  /** Selects as people do: told to the host and, with `isTold`, in words. */
  private choose(node: number, isTold: boolean): void {
    this.select(node);
    this.options.on.select?.(node);
    if (isTold && node >= 0) this.live.textContent = this.describe(node);
  }

  private describe(node: number): string {
    const { unit } = this.tree;
    return describe(this.tree, node, this.options.format ?? ((value) => `${value.toLocaleString()}${unit ? ` ${unit}` : ""}`));
  }

  private shareAt(x: number, of: HTMLElement): number {
    const rect = of.getBoundingClientRect();
    return rect.width > 0 ? Math.min(1, Math.max(0, (x - rect.left) / rect.width)) : 0.5;
  }

  private panBy(dx: number): void {
    const { v0, v1 } = this.range;
    this.moveNow(panRange(this.range, (dx / Math.max(1, this.stage.clientWidth)) * (v1 - v0), this.tree.width[0]));
  }

  private scrollBy(dy: number): boolean {
    const { geometry } = this;
    const signed = (geometry.isFlame ? -dy : dy) * geometry.ratio;
    const to = Math.max(0, Math.min(geometry.scroll + signed, this.maxScroll(this.range)));
    if (to === geometry.scroll) return false;
    geometry.scroll = to;
    this.needsPoint = true;
    this.redraw(false);
    return true;
  }

  private listenToStage(): void {
    const total = () => this.tree.width[0];
    listen(this.stage, {
      point: (x, y) => this.pointAt({ x, y }),
      leave: () => this.pointAt(null),
      click: (x, y) => {
        const node = this.nodeAtPoint(x, y);
        this.choose(node, false);
        if (node >= 0) this.zoomTo(node);
      },
      doubleClick: () => this.zoomTo(0),
      menu: (x, y) => this.options.on.menu?.(this.nodeAtPoint(x, y), x, y),
      drag: (dx, dy) => {
        this.panBy(-dx);
        this.scrollBy(-dy);
      },
      dragEnd: () => this.settle(),
      zoom: (x, factor) => this.moveNow(zoomRange(this.range, this.shareAt(x, this.stage), factor, total())),
      pan: (dx) => this.panBy(dx),
      scroll: (dy) => this.scrollBy(dy),
      key: (event) => this.pressed(event),
      focused: (isFocused) => {
        this.isFocused = isFocused && this.stage.matches(":focus-visible");
        this.request();
      },
    }, this.ending.signal);
  }

  private listenToMap(): void {
    const { signal } = this.ending;
    const { map } = this;
    let began: { range: Range; at: number } | null = null;
    const move = (x: number) => {
      if (began) this.moveNow(dragOverview(began.range, began.at, this.shareAt(x, map), this.tree.width[0]));
    };
    map.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      map.setPointerCapture(event.pointerId);
      began = { range: this.range, at: this.shareAt(event.clientX, map) };
    }, { signal });
    map.addEventListener("pointermove", (event) => move(event.clientX), { signal });
    map.addEventListener("pointerup", (event) => {
      move(event.clientX);
      began = null;
    }, { signal });
    map.addEventListener("pointercancel", () => (began = null), { signal });
    map.addEventListener("dblclick", () => this.zoomTo(0), { signal });
  }

  private pressed(event: KeyboardEvent): boolean {
    const isMenu = event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);
    if (!isMenu && (event.ctrlKey || event.metaKey || event.altKey)) return false;
    const isFlame = this.geometry.isFlame;
    const steps: Record<string, Step> = {
      ArrowUp: isFlame ? "child" : "parent",
      ArrowDown: isFlame ? "parent" : "child",
      ArrowLeft: "previous",
      ArrowRight: "next",
    };
    const step = steps[event.key];
    if (step) this.choose(stepFrom(this.tree, this.selectedNode, step), true);
    else if (event.key === "Home") this.choose(0, true);
    else if (event.key === "Enter" && this.selectedNode >= 0) this.zoomTo(this.selectedNode);
    else if (event.key === "Escape" && this.zoomedNode > 0) this.zoomTo(0);
    else if (event.key === "Escape" && this.selectedNode >= 0) this.choose(-1, false);
    else if (event.key === "+" || event.key === "=") this.zoomByKey(1 / KEY_ZOOM);
    else if (event.key === "-") this.zoomByKey(KEY_ZOOM);
    else if (event.key === "0") this.zoomTo(0);
    else if (isMenu) this.openMenu();
    else return false;
    return true;
  }

  /** Zooms around the selected frame, or the middle. */
  private zoomByKey(factor: number): void {
    const { tree, selectedNode } = this;
    const range = this.motion?.to ?? this.range;
    const middle = selectedNode < 0 ? 0.5 : (tree.left[selectedNode] + tree.width[selectedNode] / 2 - range.v0) / (range.v1 - range.v0);
    const to = zoomRange(range, Math.min(1, Math.max(0, middle)), factor, tree.width[0]);
    this.moveTo(to, Math.min(this.geometry.scroll, this.maxScroll(to)));
  }

  /** Asks for the menu of the selected frame, just below it. */
  private openMenu(): void {
    const node = this.selectedNode;
    const rect = this.stage.getBoundingClientRect();
    const { v0, v1 } = this.range;
    const share = node < 0 ? 0 : Math.min(1, Math.max(0, (this.tree.left[node] - v0) / (v1 - v0)));
    const y = node < 0 ? 0 : yOfLevel(this.geometry, levelOf(this.tree, node)) + this.geometry.row;
    this.options.on.menu?.(node, rect.left + share * rect.width, rect.top + Math.max(0, y / this.geometry.ratio));
  }
}
