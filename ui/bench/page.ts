// SPDX-License-Identifier: Apache-2.0
// The page that ui/bench/flame.mjs drives: a flame graph and nothing else, and a clock. A frame is measured from the beginning of
// its animation callbacks to a message posted from them, which arrives when the browser has done with the frame: canvas calls
// are rastered after the script ends.

import { decodeFlame } from "../src/flame/decode.ts";
import { parsePattern } from "../src/flame/search.ts";
import type { FlameTree } from "../src/flame/tree.ts";
import { type Colouring, type Direction, FlameView, type Searched, type Theme } from "../src/flame/view.ts";

interface Options {
  theme?: Theme;
  colour?: Colouring;
  direction?: Direction;
  isReduced?: boolean;
}

const host = document.getElementById("host")!;
const channel = new MessageChannel();
let bytes = new Uint8Array();
let view: FlameView | null = null;
let tree: FlameTree | null = null;
let searched: Searched | null = null;
const events: (string | number)[][] = [];

/* How often pixels were brought to a canvas, which each drawing of the graph does: frames in which nothing moved do not count. */
let nDrawn = 0;
const put = CanvasRenderingContext2D.prototype.putImageData;
CanvasRenderingContext2D.prototype.putImageData = function (this: CanvasRenderingContext2D, ...given: unknown[]) {
  nDrawn++;
  return Reflect.apply(put, this, given);
};

/** Time from `begin` (or the start of the animation frame, if that is null) until the frame is done. */
function untilDone(begin: number | null): Promise<number> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const start = begin ?? performance.now();
      channel.port1.onmessage = () => resolve(performance.now() - start);
      channel.port2.postMessage(0);
    });
  });
}

const bench = {
  events,
  async fetch(path: string): Promise<number> {
    bytes = new Uint8Array(await (await fetch(path)).arrayBuffer());
    return bytes.length;
  },

  /** Bytes at hand -> columns -> on the screen. */
  async show(options: Options = {}): Promise<{ decode: number; paint: number }> {
    view?.destroy();
    const start = performance.now();
    tree = decodeFlame(bytes);
    const decode = performance.now() - start;
    view = new FlameView(host, {
      tree,
      theme: options.theme ?? "light",
      colour: options.colour ?? "package",
      direction: options.direction ?? "icicle",
      isReduced: options.isReduced ?? true,
      on: {
        searched: (result) => (searched = result),
        zoom: (node) => events.push(["zoom", node]),
        select: (node) => events.push(["select", node]),
        menu: (node, x, y) => events.push(["menu", node, x, y]),
        hover: (node) => events.push(["hover", node]),
      },
    });
    return { decode, paint: await untilDone(start) };
  },

  view: () => view!,
  tree: () => tree!,
  searched: () => searched,

  /** One frame for each step: what the wheel does, as people turn it. */
  async frames(kind: "zoom" | "pan" | "scroll" | "hover", nSteps: number): Promise<number[]> {
    const stage = host.querySelector<HTMLElement>(".flame-stage")!;
    const rect = stage.getBoundingClientRect();
    const times = [];
    if (kind === "scroll") {
      view!.zoomTo(0); /* all levels, from the first: more than fit the window */
      await untilDone(null);
    }
    for (let i = 0; i < nSteps; i++) {
      const isBack = i % 40 >= 20;
      const place = { clientX: rect.left + rect.width * (0.3 + 0.013 * (i % 31)), clientY: rect.top + rect.height * (0.1 + 0.02 * (i % 37)) };
      const before = nDrawn;
      const done = untilDone(null);
      if (kind === "hover") stage.dispatchEvent(new PointerEvent("pointermove", { ...place, pointerType: "mouse" }));
      else {
        const wheel = { ...place, cancelable: true, ctrlKey: kind === "zoom", shiftKey: kind === "pan" };
        const size = kind === "zoom" ? 30 : kind === "pan" ? 60 : 25;
        stage.dispatchEvent(new WheelEvent("wheel", { ...wheel, deltaY: kind === "zoom" ? (isBack ? size : -size) : isBack ? -size : size }));
      }
      times.push(await done);
      if (kind !== "hover" && nDrawn === before) throw new Error(`step ${i} of ${kind} drew nothing`);
    }
    return times;
  },

  /** Frames of an animated zoom to a frame and back. */
  async clickZoom(nTimes: number): Promise<number[]> {
    const times: number[] = [];
    const { left, width, levelStart } = tree!;
    view!.setReduced(false);
    for (let i = 0; i < nTimes; i++) {
      const level = 2 + (i % 8);
      let node = levelStart[level];
      for (let at = node; at < levelStart[level + 1]; at++) if (width[at] > width[node] && left[at] > i) node = at;
      view!.zoomTo(i % 2 === 0 ? node : 0);
      for (const end = performance.now() + 220; performance.now() < end; ) {
        const before = nDrawn;
        const time = await untilDone(null);
        if (nDrawn > before) times.push(time);
      }
    }
    view!.setReduced(true);
    return times;
  },

  /** The script alone, and until the frame is done. */
  async search(text: string): Promise<{ script: number; frame: number }> {
    const start = performance.now();
    const parsed = parsePattern(text);
    if (!("pattern" in parsed)) throw new Error(parsed.problem);
    view!.setSearch(parsed.pattern);
    const script = performance.now() - start;
    return { script, frame: await untilDone(start) };
  },

  endSearch(): Promise<number> {
    view!.setSearch(null);
    return untilDone(null);
  },

  dropBytes(): void {
    bytes = new Uint8Array();
  },
};

export type Bench = typeof bench;
Object.assign(window, { bench });
