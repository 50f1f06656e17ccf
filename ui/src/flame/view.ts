// SPDX-License-Identifier: Apache-2.0
// The flame graph as people see and use it: which part of which tree is shown, what is selected and searched for, and how that
// changes by pointer, touch and keys. It knows no framework; whoever hosts it hears of changes by the functions of `on`.

import { Camera } from "./camera.ts";
import { type Colouring, type Colours, type Theme, coloursFor } from "./colour.ts";
import { levelAt, yOfLevel } from "./graph.ts";
import { listenToStage } from "./input.ts";
import { listenToOverview } from "./minimap.ts";
import type { Direction, FlameOptions } from "./options.ts";
import type { Scene } from "./paint.ts";
import { type Range, enclosingNode, panRange, rangeOf, samePart, zoomRange } from "./range.ts";
import { Screen } from "./screen.ts";
import { Search } from "./search.ts";
import { drawSvg } from "./svg.ts";
import { type FlameTree, findPath, levelOf, levelsWithin, nameOf, nodeAt, pathOf } from "./tree.ts";
import { describe, grouped, meaningOf, stepFrom } from "./walk.ts";

export type { Colouring, Theme } from "./colour.ts";
export type { Direction, FlameEvents, FlameOptions, Searched } from "./options.ts";

const SETTLE_MS = 120;
const KEY_ZOOM = 1.5;
const HELP = "Arrow keys walk from frame to frame, Enter zooms to one, Escape shows everything, plus and minus zoom.";

export class FlameView {
  private tree: FlameTree;
  private colours: Colours;
  private readonly options: FlameOptions;
  private readonly screen: Screen;
  private readonly camera: Camera;
  private readonly ending = new AbortController();
  private search: Search | null = null;
  private pattern: RegExp | null = null;
  private zoomedNode = 0;
  private targetNode = 0; /* what was zoomed to last; one may have moved on since */
  private selectedNode = -1;
  private hoveredNode = -1;
  private pointer: { x: number; y: number } | null = null;
  private isFocused = false;
  private settleTimer = 0;
  /* What the next animation frame has to draw. */
  private needsGraph = true;
  /* The overview is painted a frame later than the graph, which one waits for: in how many frames; 0 if it is right as it is. */
  private overviewIn = 2;
  private needsPoint = false;

  constructor(host: HTMLElement, options: FlameOptions) {
    this.options = { ...options };
    this.tree = options.tree;
    this.camera = new Camera(rangeOf(this.tree, 0));
    this.colours = coloursFor(this.tree, options.colour, options.theme ?? "light");
    this.screen = new Screen(host, options.hasOverview ?? true, { draw: () => this.draw(), resized: (before) => this.resized(before) });
    this.screen.geometry.isFlame = options.direction === "flame";
    this.labelScreen();
    this.listen();
    this.screen.start();
  }

  private labelScreen(): void {
    this.screen.label(`Flame graph of ${grouped(this.tree.n)} frames. ${HELP}`);
  }

  // --- what the host may ask for ---

  /** Shows another tree. With `keepsZoom` what was shown and selected is looked for in it by names. */
  setTree(tree: FlameTree, keepsZoom: boolean): void {
    const old = this.tree;
    const { zoomedNode, selectedNode, camera } = this;
    const shown = camera.goal;
    const moved = (node: number, isPartial: boolean) => findPath(tree, pathOf(old, node).map((at) => nameOf(old, at)), isPartial);
    this.tree = tree;
    this.hoveredNode = -1;
    this.colours = coloursFor(tree, this.options.colour, this.options.theme ?? "light");
    this.zoomedNode = this.targetNode = keepsZoom ? moved(zoomedNode, true) : 0;
    this.selectedNode = keepsZoom && selectedNode >= 0 ? moved(selectedNode, false) : -1;
    const range = rangeOf(tree, this.zoomedNode);
    const isSame = keepsZoom && levelOf(tree, this.zoomedNode) === levelOf(old, zoomedNode);
    camera.jump(isSame ? samePart(shown, rangeOf(old, zoomedNode), range, tree.width[0]) : range, keepsZoom ? camera.goalScroll : 0);
    this.search = this.pattern ? new Search(tree, this.pattern) : null;
    this.labelScreen();
    this.redraw(true);
    this.settle();
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
    this.screen.graph.restyle();
    this.redraw(true);
  }

  setDirection(direction: Direction): void {
    this.options.direction = direction;
    this.screen.geometry.isFlame = direction === "flame";
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
    this.targetNode = node;
    this.moveTo(to, this.scrollFor(node, to));
  }

  get zoomed(): number {
    return this.zoomedNode;
  }

  /** Selects a frame and brings it into view; -1 selects none. */
  select(node: number): void {
    this.selectedNode = node;
    if (node >= 0) this.reveal(node);
    this.screen.request();
  }

  get selected(): number {
    return this.selectedNode;
  }

  /** Height in pixels of the page that shows all levels without scrolling. */
  get contentHeight(): number {
    const { ratio, row } = this.screen.geometry;
    return Math.ceil((this.tree.depth * row) / ratio) + this.screen.surroundings;
  }

  focus(): void {
    this.screen.stage.focus({ preventScroll: true });
  }

  toPNG(): Promise<Blob> {
    this.screen.drawNow();
    return new Promise((resolve, reject) => {
      const done = (blob: Blob | null) => (blob ? resolve(blob) : reject(new Error("This browser could not write the picture. Make the window smaller.")));
      this.screen.graph.canvas.toBlob(done, "image/png");
    });
  }

  toSVG(): string {
    const { tree, screen } = this;
    const { geometry } = screen;
    const nPixels = Math.max(1, Math.round(geometry.width / geometry.ratio));
    return drawSvg({ ...this.scene, nPixels }, {
      isFlame: geometry.isFlame,
      describe: (node) => this.describe(node),
      fit: (name, width) => screen.graph.fit(tree, name, width * geometry.ratio, geometry),
    });
  }

  destroy(): void {
    this.ending.abort();
    clearTimeout(this.settleTimer);
    this.screen.destroy();
  }

  // --- drawing ---

  private get scene(): Scene {
    const { tree, colours, camera } = this;
    const { v0, v1 } = camera.range;
    return { tree, colours, hits: this.search?.hits ?? null, v0, v1, nPixels: this.screen.geometry.width };
  }

  private maxScroll(range: Range): number {
    const { row, height } = this.screen.geometry;
    return Math.max(0, levelsWithin(this.tree, range.v0, range.v1) * row - height);
  }

  private redraw(isOverviewNew: boolean): void {
    this.needsGraph = true;
    if (isOverviewNew) this.overviewIn = 2;
    this.screen.request();
  }

  private resized(before: number): void {
    this.camera.jump(this.camera.goal, (this.camera.goalScroll / before) * this.screen.geometry.row);
    this.redraw(true);
  }

  private draw(): void {
    const { camera, screen } = this;
    this.needsGraph ||= camera.isMoving;
    const hasArrived = camera.advance(performance.now());
    if (this.needsGraph) {
      const limit = this.maxScroll(camera.range);
      screen.geometry.scroll = Math.max(0, Math.min(Math.round(camera.scroll), limit));
      screen.stage.classList.toggle("is-scrolling", limit > 0);
      screen.drawGraph(this.scene);
    }
    const isOverviewDue = this.overviewIn > 0 && --this.overviewIn === 0;
    if (this.needsGraph || isOverviewDue) screen.drawOverview(this.scene, isOverviewDue);
    this.needsGraph = false;
    if (this.needsPoint) this.pointNow();
    screen.drawOutlines(this.scene, [
      { node: this.hoveredNode, colour: "hover", thickness: 1 },
      { node: this.selectedNode, colour: "selected", thickness: this.isFocused ? 2 : 1 },
    ]);
    if (camera.isMoving || this.overviewIn > 0) screen.request();
    if (hasArrived) this.settle();
  }

  // --- moving ---

  private moveTo(to: Range, scroll: number): void {
    const isStill = this.options.isReduced || this.screen.geometry.width === 0;
    if (isStill) this.camera.jump(to, scroll);
    else this.camera.glide(to, scroll, performance.now());
    this.redraw(false);
    if (isStill) this.settle();
  }

  /** Moves at once, as a pointer does. */
  private moveNow(to: Range): void {
    this.camera.jump(to);
    this.redraw(false);
    clearTimeout(this.settleTimer);
    this.settleTimer = window.setTimeout(() => this.settle(), SETTLE_MS);
  }

  /** Where to scroll so that a frame is in view with its caller before it, moving as little as possible. */
  private scrollFor(node: number, range: Range): number {
    const { row, height } = this.screen.geometry;
    const top = levelOf(this.tree, node) * row;
    const wanted = Math.min(Math.max(this.camera.goalScroll, top + 2 * row - height), Math.max(0, top - row));
    return Math.max(0, Math.min(wanted, this.maxScroll(range)));
  }

  /** Moves as little as needed to show a frame: not at all if it can be seen. */
  private reveal(node: number): void {
    const { left, width } = this.tree;
    const { goal } = this.camera;
    const span = goal.v1 - goal.v0;
    const isSeen = left[node] < goal.v1 - span * 0.002 && left[node] + width[node] > goal.v0 + span * 0.002;
    const isWide = width[node] >= (span / Math.max(1, this.screen.geometry.width)) * 3;
    let to = goal;
    if (!isSeen || !isWide) {
      const wanted = isWide ? span : Math.min(span, width[node] * 50);
      const middle = left[node] + width[node] / 2;
      to = panRange({ v0: middle - wanted / 2, v1: middle + wanted / 2 }, 0, this.tree.width[0]);
    }
    const scroll = this.scrollFor(node, to);
    if (to !== goal || scroll !== this.camera.goalScroll) this.moveTo(to, scroll);
  }

  /** After a move: tells which frame spans what is shown, and how much of it was found. */
  private settle(): void {
    clearTimeout(this.settleTimer);
    const { goal } = this.camera;
    const target = rangeOf(this.tree, this.targetNode);
    const isThere = goal.v0 === target.v0 && goal.v1 === target.v1;
    const node = isThere ? this.targetNode : enclosingNode(this.tree, goal);
    const isNew = node !== this.zoomedNode;
    this.zoomedNode = node;
    if (isNew) this.options.on.zoom?.(node);
    if (this.search) this.tellSearched();
  }

  private tellSearched(): void {
    const { search } = this;
    const { goal } = this.camera;
    this.options.on.searched?.(search ? { ...search.share(goal.v0, goal.v1), nHits: search.nHits } : null);
  }

  // --- pointing, choosing, keys ---

  private nodeAtPoint(x: number, y: number): number {
    const place = this.screen.placeOf(x, y);
    if (!place) return -1;
    const { geometry } = this.screen;
    const { v0, v1 } = this.camera.range;
    const level = levelAt(geometry, place.y);
    const at = (pixels: number) => nodeAt(this.tree, level, v0 + (pixels / geometry.width) * (v1 - v0));
    const node = at(place.x + 0.5);
    return node >= 0 ? node : at(place.x);
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
    this.screen.request();
  }

  /** Selects as people do: told to the host and, with `isTold`, in words. */
  private choose(node: number, isTold: boolean): void {
    this.select(node);
    this.options.on.select?.(node);
    if (isTold && node >= 0) this.screen.tell(this.describe(node));
  }

  private describe(node: number): string {
    const { unit } = this.tree;
    return describe(this.tree, node, this.options.format ?? ((value) => `${grouped(value)}${unit ? ` ${unit}` : ""}`));
  }

  private panBy(dx: number): void {
    const { v0, v1 } = this.camera.range;
    this.moveNow(panRange(this.camera.range, (dx / Math.max(1, this.screen.stage.clientWidth)) * (v1 - v0), this.tree.width[0]));
  }

  private scrollBy(dy: number): boolean {
    const { camera, screen } = this;
    const signed = (screen.geometry.isFlame ? -dy : dy) * screen.geometry.ratio;
    const limit = this.maxScroll(camera.range);
    const from = Math.min(camera.scroll, limit);
    const to = Math.max(0, Math.min(from + signed, limit));
    if (to === from) return false;
    camera.jump(camera.range, to);
    this.needsPoint = true;
    this.redraw(false);
    return true;
  }

  private zoomAround(x: number, factor: number): void {
    const rect = this.screen.stage.getBoundingClientRect();
    const at = rect.width > 0 ? Math.min(1, Math.max(0, (x - rect.left) / rect.width)) : 0.5;
    this.moveNow(zoomRange(this.camera.range, at, factor, this.tree.width[0]));
  }

  private listen(): void {
    const { signal } = this.ending;
    const { screen } = this;
    listenToStage(screen.stage, {
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
      zoom: (x, factor) => this.zoomAround(x, factor),
      pan: (dx) => this.panBy(dx),
      scroll: (dy) => this.scrollBy(dy),
      key: (event) => this.pressed(event),
      focused: (isFocused) => {
        this.isFocused = isFocused && screen.stage.matches(":focus-visible");
        screen.request();
      },
    }, signal);
    if (screen.map)
      listenToOverview(screen.map, {
        range: () => this.camera.range,
        total: () => this.tree.width[0],
        show: (range) => this.moveNow(range),
        showAll: () => this.zoomTo(0),
      }, signal);
  }

  private pressed(event: KeyboardEvent): boolean {
    const { tree, selectedNode, zoomedNode } = this;
    const meaning = meaningOf(event, this.screen.geometry.isFlame);
    if (meaning === null) return false;
    if (meaning === "root") this.choose(0, true);
    else if (meaning === "zoom in") this.zoomByKey(1 / KEY_ZOOM);
    else if (meaning === "zoom out") this.zoomByKey(KEY_ZOOM);
    else if (meaning === "all") this.zoomTo(0);
    else if (meaning === "menu") this.openMenu();
    else if (meaning === "enter" && selectedNode >= 0) this.zoomTo(selectedNode);
    else if (meaning === "escape" && zoomedNode > 0) this.zoomTo(0);
    else if (meaning === "escape" && selectedNode >= 0) this.choose(-1, false);
    else if (meaning === "enter" || meaning === "escape") return false;
    else this.choose(stepFrom(tree, selectedNode, meaning), true);
    return true;
  }

  /** Zooms around the selected frame, or the middle. */
  private zoomByKey(factor: number): void {
    const { tree, selectedNode } = this;
    const range = this.camera.goal;
    const middle = selectedNode < 0 ? 0.5 : (tree.left[selectedNode] + tree.width[selectedNode] / 2 - range.v0) / (range.v1 - range.v0);
    const to = zoomRange(range, Math.min(1, Math.max(0, middle)), factor, tree.width[0]);
    this.moveTo(to, Math.min(this.camera.goalScroll, this.maxScroll(to)));
  }

  /** Asks for the menu of the selected frame, just below it. */
  private openMenu(): void {
    const { geometry } = this.screen;
    const node = this.selectedNode;
    const { v0, v1 } = this.camera.range;
    const x = node < 0 ? 0 : ((this.tree.left[node] - v0) / (v1 - v0)) * geometry.width;
    const y = node < 0 ? 0 : yOfLevel(geometry, levelOf(this.tree, node)) + geometry.row;
    const place = this.screen.windowPlaceOf(x, y);
    this.options.on.menu?.(node, place.x, place.y);
  }
}
