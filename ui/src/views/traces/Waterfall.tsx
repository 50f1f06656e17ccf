// SPDX-License-Identifier: Apache-2.0
// The spans of a trace as bars over time, one a row. Only the rows in sight are in the document, and those that stay in sight
// are not made again, so that ten thousand spans scroll like ten.

import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSize } from "../../components/basics.tsx";
import { clampRange, type Range } from "../../flame/range.ts";
import { navigate, route } from "../../lib/route.ts";
import { ROW_HEIGHT, rowsInSight } from "./bars.ts";
import { Minimap } from "./Minimap.tsx";
import { firstScope } from "./profiles.ts";
import { Ruler } from "./Ruler.tsx";
import { closeFlame, openFlame } from "./SpanFlame.tsx";
import { bySpan, nextOf, rowOf, type SpanTree, type Stretch } from "./spans.ts";
import { Tools } from "./Tools.tsx";
import { useHits, useRows, type Rows } from "./useRows.ts";
import { useWheel, useWindow } from "./useWindow.ts";
import { pressKey, type WaterfallActions } from "./waterfallKeys.ts";
import { WaterfallRow, type RowLayout } from "./WaterfallRow.tsx";

/** How the width is shared: names, durations, bars. */
function widthsOf(width: number): Pick<RowLayout, "nameWidth" | "numberWidth" | "timeWidth"> {
  const numberWidth = width < 520 ? 58 : 72;
  const nameWidth = Math.round(Math.min(520, Math.max(118, width * 0.34)));
  return { nameWidth, numberWidth, timeWidth: Math.max(40, width - nameWidth - numberWidth - 14) };
}

interface LinesProps {
  tree: SpanTree;
  rows: Rows;
  layout: RowLayout;
  selected: number;
  height: number;
  isShort: boolean;
  scroller: { current: HTMLDivElement | null };
  actions: WaterfallActions;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** The rows in sight. They are kept as they are until something changes that all of them show. */
function useShown({ tree, rows, layout, selected, actions }: LinesProps, sight: [number, number]): VNode[] {
  const kept = useRef<{ stamp: readonly unknown[]; made: Map<number, VNode> }>({ stamp: [], made: new Map() });
  const latest = useRef(actions);
  latest.current = actions;
  const stamp = [tree, rows, layout, selected];
  const isSame = stamp.every((one, i) => one === kept.current.stamp[i]);
  const made = new Map<number, VNode>();
  for (let row = sight[0]; row < sight[1]; row++) {
    const span = rows.rows[row];
    const isClosed = rows.isClosed(span);
    const known = isSame ? kept.current.made.get(row) : undefined;
    made.set(row, known ?? (
      <WaterfallRow
        key={span} tree={tree} span={span} row={row} layout={layout} isSelected={span === selected} isClosed={isClosed}
        onSelect={() => latest.current.select(span)} onToggle={() => rows.setClosed([span], !isClosed)} onZoom={() => latest.current.toSpan(span)}
      />
    ));
  }
  kept.current = { stamp, made };
  return [...made.values()];
}

/** What scrolls. Nothing else of the waterfall is drawn again while it does. */
function Lines(props: LinesProps) {
  const { tree, rows: { rows }, selected, height, isShort, scroller, onKeyDown } = props;
  const [scrollTop, setScrollTop] = useState(0);
  const sight = rowsInSight(scrollTop, height, ROW_HEIGHT, rows.length);
  const shown = useShown(props, sight);
  const active = rowOf(rows, selected);
  /* The chosen span is scrolled to when it is another one, and when rows above it come and go. */
  useEffect(() => {
    const element = scroller.current;
    if (!element || active < 0 || height === 0) return;
    const top = active * ROW_HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW_HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW_HEIGHT - element.clientHeight;
  }, [active, height]);
  return (
    <div
      ref={scroller}
      class={isShort ? "waterfall short" : "waterfall"}
      role="treegrid"
      aria-label={`Spans: ${rows.length} of ${tree.spans.length}. Left and right close and open, Enter shows the flame graph.`}
      aria-rowcount={rows.length}
      aria-activedescendant={active >= sight[0] && active < sight[1] ? `span-row-${active}` : undefined}
      tabIndex={0}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="waterfall-body" role="presentation" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>{shown}</div>
    </div>
  );
}

export function Waterfall({ tree, path, selected, isShort, onSelect }: {
  tree: SpanTree;
  path: readonly Stretch[];
  selected: number;
  isShort: boolean; // something else wants the room below
  onSelect: (span: number) => void;
}) {
  const [host, { width }] = useSize<HTMLElement>();
  const [scroller, { height, width: shownWidth }] = useSize<HTMLDivElement>();
  const whole = useMemo(() => ({ v0: 0, v1: tree.lengthNs }), [tree]);
  const [range, show] = useWindow(whole);
  const rows = useRows(tree);
  const hits = useHits(tree);
  const showsPath = route.value.params.get("path") === "1";
  const stretches = useMemo(() => (showsPath ? bySpan(path) : null), [showsPath, path]);
  const hitSet = useMemo(() => hits && new Set(hits), [hits]);
  const layout: RowLayout = useMemo(() => ({ ...widthsOf(shownWidth || width), range, stretches, hits: hitSet }), [shownWidth || width, range, stretches, hitSet]);
  const inset = layout.nameWidth + layout.numberWidth;
  const active = rowOf(rows.rows, selected);
  const actions: WaterfallActions = {
    select: onSelect,
    show,
    toSpan: (span) => {
      const { offset_ns, duration_ns } = tree.spans[span];
      const margin = Math.max(1, duration_ns) * 0.05;
      show(clampRange(Math.max(0, offset_ns - margin), offset_ns + duration_ns + margin, whole.v1));
    },
    toggleFlame: () => (route.peek().params.has("flame") ? navigate({ params: closeFlame }) : openFlame(firstScope(tree, selected))),
  };
  useWheel(scroller.current, { range, totalNs: whole.v1, left: inset, width: layout.timeWidth, show });

  /* What was chosen by its time is brought into sight: the spans that begin in it. */
  const choose = (next: Range) => {
    show(next);
    const row = rows.rows.findIndex((span) => tree.spans[span].offset_ns >= next.v0 && tree.spans[span].offset_ns < next.v1);
    if (row >= 0 && scroller.current) scroller.current.scrollTop = (row - 1) * ROW_HEIGHT;
  };
  const step = (direction: 1 | -1) => {
    const next = nextOf(hits ?? [], selected, direction);
    if (next < 0) return;
    rows.reveal(next);
    onSelect(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pageRows = Math.max(1, Math.floor(height / ROW_HEIGHT) - 1);
    if (!pressKey(event.key, { tree, rows, active, pageRows, range, whole }, actions)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section class="card waterfall-card" ref={host} aria-label="Waterfall">
      <Tools tree={tree} hits={hits} isZoomed={range.v0 > 0 || range.v1 < whole.v1} isAllClosed={rows.isAllClosed} onStep={step} onWhole={() => show(whole)} />
      {width > 0 && <Minimap tree={tree} range={range} whole={whole} inset={inset} width={layout.timeWidth} onShow={choose} />}
      {width > 0 && <Ruler layout={layout} whole={whole} onShow={choose} />}
      <Lines tree={tree} rows={rows} layout={layout} selected={selected} height={height} isShort={isShort} scroller={scroller} actions={actions} onKeyDown={onKeyDown} />
    </section>
  );
}
