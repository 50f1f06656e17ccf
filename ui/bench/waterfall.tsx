// SPDX-License-Identifier: Apache-2.0
// The page that ui/bench/waterfall.mjs drives: the waterfall of a trace and nothing else, and a clock. A frame is measured as in
// page.ts: from the beginning of its animation callbacks until the browser has done with it.

import { render } from "preact";
import type { Trace } from "../src/api/traces.ts";
import "../src/style/tokens.css";
import "../src/style/base.css";
import { navigate, route } from "../src/lib/route.ts";
import { criticalPath, treeOf, type SpanTree } from "../src/views/traces/spans.ts";
import { Waterfall } from "../src/views/traces/Waterfall.tsx";
import "../src/views/traces/Traces.css";

const host = document.getElementById("host")!;
const channel = new MessageChannel();
let text = "";

function Page({ tree, path }: { tree: SpanTree; path: ReturnType<typeof criticalPath> }) {
  const selected = tree.byId.get(route.value.params.get("span") ?? "") ?? -1;
  return <Waterfall tree={tree} path={path} selected={selected} isShort={false} onSelect={(span) => navigate({ params: { span: tree.spans[span]?.span_id ?? null } }, "replace")} />;
}

function untilDone(begin: number | null): Promise<number> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const start = begin ?? performance.now();
      channel.port1.onmessage = () => resolve(performance.now() - start);
      channel.port2.postMessage(0);
    });
  });
}

function element(selector: string): HTMLElement {
  return document.querySelector<HTMLElement>(selector)!;
}

/** What one step of a kind does; the change is made before the frame, as an event would. */
const steps: Record<string, (i: number) => void> = {
  scroll: (i) => scrollTo(element(".waterfall").scrollTop + (i % 80 < 40 ? 130 : -130)),
  fling: (i) => scrollTo((i * 7919 * 26) % (9000 * 26)),
  zoom: (i) => wheel({ ctrlKey: true, deltaY: i % 40 < 20 ? -40 : 40 }),
  pan: (i) => wheel({ shiftKey: true, deltaY: i % 40 < 20 ? 30 : -30 }),
  walk: () => element(".waterfall").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true })),
  close: (i) => navigate({ params: { closed: i % 2 === 0 ? "all,0000000000000001" : null } }, "replace"),
  find: (i) => navigate({ params: { find: ["cart", "fraud", "500", "checkout", ""][i % 5] } }, "replace"),
};

/** The browser would send the event at the beginning of the frame, where it would not be measured. */
function scrollTo(top: number): void {
  element(".waterfall").scrollTop = top;
  element(".waterfall").dispatchEvent(new Event("scroll"));
}

function wheel(init: WheelEventInit): void {
  const rect = element(".waterfall").getBoundingClientRect();
  element(".waterfall").dispatchEvent(new WheelEvent("wheel", { ...init, clientX: rect.left + rect.width * 0.7, clientY: rect.top + 40, cancelable: true }));
}

/** What is to be seen, so that steps that do nothing are not measured. */
function seen(): string {
  return element(".ruler").innerHTML + element(".waterfall-body").innerHTML + element(".waterfall").scrollTop;
}

const bench = {
  async fetch(path: string): Promise<number> {
    text = await (await fetch(path)).text();
    return text.length;
  },

  /** The answer as text -> rows on the screen. */
  async show(): Promise<{ prepare: number; paint: number }> {
    const start = performance.now();
    const tree = treeOf(JSON.parse(text) as Trace);
    const path = criticalPath(tree);
    const prepare = performance.now() - start;
    render(<Page tree={tree} path={path} />, host);
    await untilDone(null);
    while (document.querySelectorAll(".span-row").length < 10) await untilDone(null);
    return { prepare, paint: performance.now() - start };
  },

  async frames(kind: string, nSteps: number): Promise<number[]> {
    const times = [];
    for (let i = 0; i < nSteps; i++) {
      const before = i === 2 ? seen() : "";
      const start = performance.now();
      steps[kind](i);
      for (let turn = 0; turn < 5; turn++) await null; /* Preact renders when the event is over */
      const script = performance.now() - start;
      times.push(script + (await untilDone(null)));
      await untilDone(null);
      if (i === 2 && seen() === before) throw new Error(`${kind} changed nothing`);
    }
    return times;
  },
};

export type Bench = typeof bench;
Object.assign(window, { bench });
