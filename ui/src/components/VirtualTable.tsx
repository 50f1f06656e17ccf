// SPDX-License-Identifier: Apache-2.0
// A table of any length: only the rows in sight are in the document. Sortable by its headings, walked by arrow keys, told to
// screen readers as the whole table that it is.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "./VirtualTable.css";

export interface Column<Row> {
  id: string;
  title: string;
  hint?: string; // what the column means
  isNumber?: boolean;
  width?: string; // of a grid column: "minmax(12em, 1fr)", "7em"
  isSortable?: boolean;
  cell: (row: Row, index: number) => ComponentChildren;
}

export interface Sort {
  id: string;
  isDescending: boolean;
}

/* Rows of two lines have a heading of one. */
const MAX_HEAD_HEIGHT = 36;

export function VirtualTable<Row>({ label, columns, rows, keyOf, sort, onSort, selected, onSelect, onOpen, onMenu, rowHeight = 28, height }: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[]; // in the order of `sort`; the owner sorts
  keyOf: (row: Row) => string | number;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  selected?: string | number | null;
  onSelect?: (row: Row) => void; // a click, or the arrows
  onOpen?: (row: Row) => void; // Enter, or a double click
  onMenu?: (row: Row, x: number, y: number) => void;
  rowHeight?: number;
  height?: string; // of the whole, as CSS has it; else it fills its parent
}) {
  const headHeight = Math.min(rowHeight, MAX_HEAD_HEIGHT);
  const scroller = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [shownHeight, setShownHeight] = useState(400);
  const [active, setActive] = useState(0);
  const template = columns.map((column) => column.width ?? "minmax(0, 1fr)").join(" ");
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - 5);
  const end = Math.min(rows.length, Math.ceil((scrollTop + shownHeight) / rowHeight) + 5);
  const selectedIndex = selected === null || selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected);

  useEffect(() => {
    const element = scroller.current!;
    const observer = new ResizeObserver(() => setShownHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const show = (index: number) => {
    const element = scroller.current;
    if (!element) return;
    const head = headHeight;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight + head > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight + head - element.clientHeight;
  };
  useEffect(() => {
    if (selectedIndex < 0) return;
    setActive(selectedIndex);
    show(selectedIndex);
  }, [selectedIndex]);

  const go = (index: number) => {
    const at = Math.max(0, Math.min(rows.length - 1, index));
    if (rows.length === 0) return;
    setActive(at);
    show(at);
    onSelect?.(rows[at]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.target as Element).closest("button, a, input")) return;
    const page = Math.max(1, Math.floor(shownHeight / rowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.length - 1,
    };
    if (event.key in steps) go(steps[event.key]);
    else if (event.key === "Enter" && rows[active] !== undefined) onOpen?.(rows[active]);
    else if ((event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) && onMenu && rows[active] !== undefined) {
      const box = scroller.current!.querySelector(`[aria-rowindex="${active + 2}"]`)?.getBoundingClientRect();
      if (box) onMenu(rows[active], box.left + 24, box.bottom);
    } else return;
    event.preventDefault();
  };
  const sortBy = (column: Column<Row>) => {
    if (!onSort) return;
    onSort({ id: column.id, isDescending: sort?.id === column.id ? !sort.isDescending : column.isNumber === true });
  };

  return (
    <div
      class="vtable"
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={rows.length > 0 && active >= first && active < end ? `${label.replace(/\W+/g, "-")}-row-${active}` : undefined}
      tabIndex={0}
      style={height ? { height } : undefined}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="vtable-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template, height: `${headHeight}px` }}>
        {columns.map((column) => {
          const isSorted = sort?.id === column.id;
          const order = isSorted ? (sort.isDescending ? "descending" : "ascending") : undefined;
          return (
            <div key={column.id} role="columnheader" aria-sort={order} class={column.isNumber ? "number" : ""} title={column.hint}>
              {column.isSortable && onSort ? (
                <button type="button" class="clip" onClick={() => sortBy(column)}>
                  {column.title}
                  <span aria-hidden="true">{isSorted ? (sort.isDescending ? " ↓" : " ↑") : ""}</span>
                </button>
              ) : (
                <span class="clip">{column.title}</span>
              )}
            </div>
          );
        })}
      </div>
      <div class="vtable-body" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, end).map((row, offset) => {
          const index = first + offset;
          return (
            <div
              key={keyOf(row)}
              id={`${label.replace(/\W+/g, "-")}-row-${index}`}
              class={index === active ? "vtable-row active" : "vtable-row"}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={index === selectedIndex}
              style={{ gridTemplateColumns: template, height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
              onClick={() => {
                setActive(index);
                onSelect?.(row);
              }}
              onDblClick={() => onOpen?.(row)}
              onContextMenu={(event) => {
                if (!onMenu) return;
                event.preventDefault();
                setActive(index);
                onMenu(row, event.clientX, event.clientY);
              }}
            >
              {columns.map((column) => (
                <div key={column.id} role="gridcell" class={column.isNumber ? "number clip" : "clip"}>{column.cell(row, index)}</div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
