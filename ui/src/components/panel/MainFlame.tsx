// SPDX-License-Identifier: Apache-2.0
// The flame graph of the panel, tied to the URL: zoom and selection go there, and come from there.

import { useMemo, useRef } from "preact/hooks";
import { isDiff } from "../../flame/tree.ts";
import type { FlameView, Searched } from "../../flame/view.ts";
import { lineOf } from "./facts.ts";
import { FlamePart } from "./FlamePart.tsx";
import type { Panel } from "./panel.ts";
import { exactSearch } from "./patterns.ts";
import { pathTo } from "./state.ts";

/* Zooming by wheel goes through many frames: those shortly one after the other are one step for the back button. */
const ONE_STEP_MS = 1500;

export function MainFlame({ panel, onView, onSearched }: { panel: Panel; onView: (view: FlameView | null) => void; onSearched: (result: Searched | null) => void }) {
  const { tree, state } = panel;
  const lastZoom = useRef(-ONE_STEP_MS);
  const lit = useMemo(() => (panel.pattern === null && state.fn ? exactSearch(state.fn) : panel.pattern), [panel.pattern, state.fn]);
  const onZoom = (node: number) => {
    const zoom = pathTo(tree, node);
    if (zoom === state.zoom) return;
    const isSameStep = performance.now() - lastZoom.current < ONE_STEP_MS;
    lastZoom.current = performance.now();
    panel.change({ zoom }, isSameStep ? "replace" : "push");
  };
  const onSelect = (node: number) => {
    const sel = pathTo(tree, node);
    if (sel !== state.sel || state.fn) panel.change({ sel, fn: "" }, "replace");
  };
  return (
    <div class="panel-graph">
      <FlamePart
        tree={tree} colour={state.colour || (isDiff(tree) ? "diff" : "package")} direction={state.dir} pattern={lit}
        zoom={panel.zoom} selected={panel.selected} onView={onView}
        on={{
          zoom: onZoom,
          select: onSelect,
          searched: onSearched,
          hover: (node, x, y) => panel.point(tree, node, x, y),
          menu: (node, x, y) => panel.menu(tree, node, x, y),
        }}
      />
      <p class="panel-foot clip" dir="auto">{panel.selected > 0 ? lineOf(tree, panel.selected).slice(0, 2000) : "Click a frame to zoom, right-click for more."}</p>
    </div>
  );
}
