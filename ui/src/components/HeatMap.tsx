// SPDX-License-Identifier: Apache-2.0
// How the values of single profiles are spread over time: a cell is the darker the more profiles have such a value then. Cells
// are walked by arrow keys; a click or Enter offers what can be done with one.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Exemplar, Heatmap } from "../api/series.ts";
import { formatTime } from "../lib/format.ts";
import { cellAt, countOfCell, stepCell, textOfCell, timeTicks, type Cell, type Frame } from "../lib/heatmap.ts";
import { formatPoint } from "../lib/series.ts";
import { isDark, zone } from "../lib/theme.ts";
import { useSize } from "./basics.tsx";
import { Menu, type MenuEntry } from "./Menu.tsx";
import "./HeatMap.css";

const margin = { left: 66, right: 20, top: 8, bottom: 22 };

function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function draw(canvas: HTMLCanvasElement, map: Heatmap, frame: Frame, active: Cell | null): void {
  const ratio = devicePixelRatio;
  const context = canvas.getContext("2d")!;
  canvas.width = Math.round((frame.left + frame.width + margin.right) * ratio);
  canvas.height = Math.round((frame.top + frame.height + margin.bottom) * ratio);
  context.scale(ratio, ratio);
  const most = map.counts.reduce((max, column) => column.reduce((a, b) => Math.max(a, b), max), 1);
  const x = (point: number) => Math.round(frame.left + (point / frame.nPoints) * frame.width);
  const y = (bucket: number) => Math.round(frame.top + frame.height - (bucket / frame.nBuckets) * frame.height);
  context.fillStyle = cssColour("--chart-1");
  map.counts.forEach((column, point) =>
    column.forEach((count, bucket) => {
      if (count === 0) return;
      context.globalAlpha = 0.18 + 0.82 * Math.sqrt(count / most);
      context.fillRect(
        x(point),
        y(bucket + 1),
        Math.max(1, x(point + 1) - x(point)),
        Math.max(1, y(bucket) - y(bucket + 1)),
      );
    }),
  );
  context.globalAlpha = 1;
  drawAxes(context, map, frame, y);
  if (active) {
    context.strokeStyle = cssColour("--focus");
    context.lineWidth = 2;
    context.strokeRect(
      x(active.point),
      y(active.bucket + 1),
      x(active.point + 1) - x(active.point),
      y(active.bucket) - y(active.bucket + 1),
    );
  }
}

function drawAxes(context: CanvasRenderingContext2D, map: Heatmap, frame: Frame, y: (bucket: number) => number): void {
  context.fillStyle = cssColour("--text-2");
  context.strokeStyle = cssColour("--chart-grid");
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  const everyBucket = Math.max(1, Math.ceil((frame.nBuckets * 20) / frame.height));
  for (let bucket = 0; bucket <= frame.nBuckets; bucket += everyBucket) {
    context.fillText(
      formatPoint(map.borders[bucket], map.unit).replace(/ cores?$/, ""),
      frame.left - 6,
      Math.max(frame.top + 4, y(bucket)),
    );
  }
  context.strokeRect(frame.left - 0.5, frame.top - 0.5, frame.width + 1, frame.height + 1);
  context.textAlign = "center";
  context.textBaseline = "top";
  const shownMs = frame.nPoints * map.stepMs;
  const ticks = timeTicks(map.fromMs, map.fromMs + shownMs, frame.width, 70, zone.peek());
  const hasSeconds = ticks.some((ms) => ms % 60_000 !== 0);
  for (const ms of ticks) {
    const at = Math.round(frame.left + ((ms - map.fromMs) / shownMs) * frame.width);
    const text = formatTime(ms, zone.peek(), hasSeconds);
    context.fillRect(at, frame.top + frame.height, 1, 4);
    context.fillText(shownMs > 2 * 86400e3 ? text.slice(5, 10) : text.slice(11), at, frame.top + frame.height + 6);
  }
}

/** `onRange` narrows the time; `onExemplar` shows a single profile or span. */
export function HeatMap({
  map,
  label,
  height = 200,
  onRange,
  onExemplar,
}: {
  map: Heatmap;
  label: string;
  height?: number;
  onRange: (fromMs: number, untilMs: number) => void;
  onExemplar: (exemplar: Exemplar) => void;
}) {
  const [host, { width }] = useSize<HTMLDivElement>();
  const [canvas, setCanvas] = useState<HTMLCanvasElement | null>(null);
  const [hovered, setHovered] = useState<{ cell: Cell; x: number; y: number } | null>(null);
  const [walked, setWalked] = useState<Cell | null>(null);
  const [menu, setMenu] = useState<{ cell: Cell; x: number; y: number } | null>(null);
  const frame: Frame = {
    left: margin.left,
    top: margin.top,
    width: Math.max(50, width - margin.left - margin.right),
    height: height - margin.top - margin.bottom,
    nPoints: Math.max(1, map.counts.length),
    nBuckets: Math.max(1, map.borders.length - 1),
  };
  const exemplars = useMemo(() => new Map(map.exemplars.map((one) => [`${one.point}:${one.bucket}`, one])), [map]);
  const active = hovered?.cell ?? walked;
  useEffect(() => {
    if (canvas && width > 0) draw(canvas, map, frame, active);
  }, [canvas, map, width, height, active?.point, active?.bucket, isDark.value, zone.value]);

  const entriesOf = (cell: Cell): MenuEntry[] => {
    const exemplar = exemplars.get(`${cell.point}:${cell.bucket}`);
    const from = map.fromMs + cell.point * map.stepMs;
    const entries: MenuEntry[] = [
      { heading: countOfCell(map, cell) },
      { text: "Show only this time", run: () => onRange(from, Math.min(map.untilMs, from + map.stepMs)) },
    ];
    if (exemplar)
      entries.push({
        text: map.kind === "span" ? "Show the largest span" : "Show the largest profile",
        hint: formatPoint(exemplar.value, map.unit),
        run: () => onExemplar(exemplar),
      });
    return entries;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = stepCell(event.key, walked, map.counts, frame.nBuckets);
    if (next) setWalked(next);
    else if (event.key === "Enter" && walked) {
      const box = canvas!.getBoundingClientRect();
      setMenu({
        cell: walked,
        x: box.left + frame.left + ((walked.point + 1) / frame.nPoints) * frame.width,
        y: box.top + frame.top + frame.height * (1 - walked.bucket / frame.nBuckets),
      });
    } else if (event.key === "Escape" && walked) setWalked(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure class="heatmap" aria-label={label}>
      <div
        ref={host}
        class="heatmap-host"
        role="application"
        tabIndex={0}
        aria-label={`${label}. Arrows walk over cells, Enter offers what to do with one`}
        style={{ height: `${height}px` }}
        onKeyDown={onKeyDown}
        onBlur={() => setWalked(null)}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const cell = cellAt(frame, event.clientX - box.left, event.clientY - box.top);
          setHovered(cell && { cell, x: event.clientX - box.left, y: event.clientY - box.top });
        }}
        onPointerLeave={() => setHovered(null)}
        onClick={(event) => {
          if (hovered && map.counts[hovered.cell.point]?.[hovered.cell.bucket])
            setMenu({ cell: hovered.cell, x: event.clientX, y: event.clientY });
        }}
      >
        <canvas ref={setCanvas} aria-hidden="true" />
        {hovered && (
          <div
            class={hovered.x > width / 2 ? "heatmap-tip at-right" : "heatmap-tip"}
            style={
              hovered.x > width / 2
                ? { right: `${width - hovered.x + 12}px`, top: `${hovered.y + 12}px` }
                : { left: `${hovered.x + 12}px`, top: `${hovered.y + 12}px` }
            }
            aria-hidden="true"
          >
            {textOfCell(map, hovered.cell, zone.value)}
          </div>
        )}
      </div>
      <p class="visually-hidden" role="status">
        {walked ? textOfCell(map, walked, zone.value) : ""}
      </p>
      {menu && <Menu label="Cell" entries={entriesOf(menu.cell)} x={menu.x} y={menu.y} onClose={() => setMenu(null)} />}
    </figure>
  );
}
