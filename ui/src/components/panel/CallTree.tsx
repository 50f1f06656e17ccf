// SPDX-License-Identifier: Apache-2.0
// The calls as a tree that is opened step by step: a tree grid of which only the rows in sight are in the document. Arrows
// walk, right opens and left closes.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isDiff, nameOf, parentOf, pathOf, selfOf, valueOf, type FlameTree } from "../../flame/tree.ts";
import { capitalised, formatDelta, formatShare } from "../../lib/format.ts";
import { Empty, useSize } from "../basics.tsx";
import { amount, changeText, isNoise } from "./facts.ts";
import { FunctionName } from "./FunctionName.tsx";
import { carryOver, hotPath, visibleRows, type TreeRow } from "./opened.ts";
import type { Panel } from "./panel.ts";
import { pathTo } from "./state.ts";

const ROW = 26;
const MORE = 8;
const MAX_INDENT = 24;

function cellsOf(tree: FlameTree, node: number): { text: string; tone?: string }[] {
  if (isDiff(tree)) {
    const [before, after] = [valueOf(tree, node, "before"), valueOf(tree, node, "after")];
    const tone = before === after || isNoise(tree, before, after) ? "muted" : after > before ? "more" : "less";
    return [
      { text: amount(tree, before) }, { text: amount(tree, after) },
      { text: formatDelta(after - before, tree.unit), tone }, { text: changeText(before, after), tone },
    ];
  }
  const total = valueOf(tree, node);
  const parent = parentOf(tree, node);
  return [
    { text: amount(tree, total) }, { text: formatShare(tree.width[node] / tree.width[0]) },
    { text: formatShare(tree.width[node] / tree.width[parent]) }, { text: amount(tree, selfOf(tree, node)) },
  ];
}

const headings = (tree: FlameTree) =>
  isDiff(tree) ? [...tree.sides.map(capitalised), "Change", "Change %"] : ["Total", "Of all", "Of caller", "Self"];

/** Which frames are open: the hot path at first, kept by names when another tree comes. */
function useOpened(panel: Panel) {
  const { tree, selected } = panel;
  const [state, setState] = useState(() => ({ tree, opened: hotPath(tree) }));
  let opened = state.opened;
  if (state.tree !== tree) {
    opened = carryOver(state.opened, state.tree, tree);
    setState({ tree, opened });
  }
  useEffect(() => {
    if (selected <= 0) return;
    const above = pathOf(tree, selected).slice(0, -1);
    if (above.every((node) => opened.has(node))) return;
    setState({ tree, opened: new Set([...opened, ...above]) });
  }, [tree, selected]);
  const set = (node: number, isOpen: boolean) => {
    const next = new Set(opened);
    if (isOpen) next.add(node);
    else next.delete(node);
    setState({ tree, opened: next });
  };
  return { opened, set };
}

export function CallTree({ panel }: { panel: Panel }) {
  const { tree, pattern, selected } = panel;
  const { opened, set } = useOpened(panel);
  const rows = useMemo(() => visibleRows(tree, opened), [tree, opened]);
  const [scroller, size] = useSize<HTMLDivElement>();
  const [scrollTop, setScrollTop] = useState(0);
  const active = Math.max(0, rows.findIndex((row) => row.node === selected));
  const shown = useRef(-1);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || selected <= 0 || shown.current === selected) return;
    shown.current = selected;
    const top = active * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + 2 * ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + 2 * ROW - element.clientHeight;
  }, [selected, active, size.height]);

  const select = (row: TreeRow | undefined) => row && panel.change({ sel: pathTo(tree, row.node), fn: "" }, "replace");
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    const page = Math.max(1, Math.floor(size.height / ROW) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    if (!row) return;
    const isOpen = opened.has(row.node);
    if (event.key in steps) select(rows[Math.max(0, Math.min(rows.length - 1, selected <= 0 ? 0 : active + steps[event.key]))]);
    else if (event.key === "ArrowRight" && !row.isLeaf) {
      if (isOpen) select(rows[active + 1]);
      else set(row.node, true);
    } else if (event.key === "ArrowLeft") {
      if (isOpen && !row.isLeaf) set(row.node, false);
      else if (row.level > 0) select({ ...row, node: parentOf(tree, row.node) });
    } else if (event.key === "Enter" || event.key === " ") set(row.node, !isOpen);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      const box = scroller.current!.querySelector(`[aria-rowindex="${active + 2}"]`)?.getBoundingClientRect();
      if (box) panel.menu(tree, row.node, box.left + 40, box.bottom);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const first = Math.max(0, Math.floor(scrollTop / ROW) - MORE);
  const end = Math.min(rows.length, Math.ceil((scrollTop + size.height) / ROW) + MORE);
  if (rows.length === 0) return <Empty title="No calls"><p>Everything is the value of the root itself.</p></Empty>;
  return (
    <div
      class="call-tree" ref={scroller} role="treegrid" aria-label="Call tree" aria-rowcount={rows.length + 1} tabIndex={0}
      aria-activedescendant={active >= first && active < end ? `call-${active}` : undefined}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)} onKeyDown={onKeyDown}
    >
      <div class="call-tree-head" role="row" aria-rowindex={1}>
        <div role="columnheader">Function</div>
        {headings(tree).map((title) => <div key={title} role="columnheader" class="number">{title}</div>)}
      </div>
      <div class="call-tree-body" role="rowgroup" style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(first, end).map((row, offset) => {
          const index = first + offset;
          const isOpen = opened.has(row.node);
          const name = nameOf(tree, row.node);
          return (
            <div
              key={row.node} id={`call-${index}`} role="row" class={pattern?.test(name.slice(0, 256)) ? "call-tree-row hit" : "call-tree-row"}
              aria-rowindex={index + 2} aria-level={row.level + 1} aria-expanded={row.isLeaf ? undefined : isOpen} aria-selected={row.node === selected}
              style={{ transform: `translateY(${index * ROW}px)` }}
              onClick={() => select(row)} onDblClick={() => set(row.node, !isOpen)}
              onContextMenu={(event) => {
                event.preventDefault();
                panel.menu(tree, row.node, event.clientX, event.clientY);
              }}
            >
              <div role="gridcell" class="call-tree-name">
                <span class="call-tree-indent" style={{ "--level": Math.min(row.level, MAX_INDENT) }}>{row.level > MAX_INDENT ? row.level : ""}</span>
                <span
                  class="call-tree-toggle" aria-hidden="true"
                  onClick={(event) => {
                    event.stopPropagation();
                    if (!row.isLeaf) set(row.node, !isOpen);
                  }}
                >{row.isLeaf ? "" : isOpen ? "▾" : "▸"}</span>
                <FunctionName name={name} />
              </div>
              {cellsOf(tree, row.node).map((cell, i) => <div key={i} role="gridcell" class={`number ${cell.tone ?? ""}`}>{cell.text}</div>)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
