// SPDX-License-Identifier: Apache-2.0
// The flame graph as a part of the page: made once, then told what changed.

import { useEffect, useRef } from "preact/hooks";
import type { FlameTree } from "../../flame/tree.ts";
import { FlameView, type Colouring, type Direction, type FlameEvents } from "../../flame/view.ts";
import { formatValue } from "../../lib/format.ts";
import { isDark, isReduced } from "../../lib/theme.ts";

export interface FlamePartProps {
  tree: FlameTree;
  colour: Colouring;
  direction: Direction;
  pattern: RegExp | null; // what to light
  zoom?: number | undefined; // the frame that fills the width; undefined leaves it to the graph
  selected?: number | undefined;
  hasOverview?: boolean;
  on: FlameEvents;
  /** Gets the view when it is there, and null when it is gone. */
  onView?: (view: FlameView | null) => void;
}

export function FlamePart({ tree, colour, direction, pattern, zoom, selected, hasOverview = true, on, onView }: FlamePartProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<FlameView | null>(null);
  const latest = useRef(on);
  latest.current = on;
  const shown = useRef(tree);
  const theme = isDark.value ? "dark" : "light";

  useEffect(() => {
    const made = new FlameView(host.current!, {
      tree, colour, direction, theme, hasOverview, isReduced: isReduced.peek(),
      format: (value) => formatValue(value, shown.current.unit),
      on: {
        zoom: (node) => latest.current.zoom?.(node),
        hover: (node, x, y) => latest.current.hover?.(node, x, y),
        select: (node) => latest.current.select?.(node),
        menu: (node, x, y) => latest.current.menu?.(node, x, y),
        searched: (result) => latest.current.searched?.(result),
      },
    });
    view.current = made;
    onView?.(made);
    return () => {
      onView?.(null);
      latest.current.hover?.(-1, 0, 0);
      made.destroy();
      view.current = null;
    };
  }, []);
  useEffect(() => {
    if (shown.current === tree) return;
    shown.current = tree;
    view.current?.setTree(tree, true);
  }, [tree]);
  useEffect(() => view.current?.setColour(colour), [colour]);
  useEffect(() => view.current?.setTheme(theme), [theme]);
  useEffect(() => view.current?.setDirection(direction), [direction]);
  useEffect(() => view.current?.setReduced(isReduced.value), [isReduced.value]);
  useEffect(() => view.current?.setSearch(pattern), [pattern?.source, pattern?.flags]);
  useEffect(() => {
    if (zoom !== undefined && view.current && view.current.zoomed !== zoom) view.current.zoomTo(zoom);
  }, [zoom, tree]);
  useEffect(() => {
    if (selected !== undefined && view.current && view.current.selected !== selected) view.current.select(selected);
  }, [selected, tree]);
  return <div class="panel-flame" ref={host} />;
}
