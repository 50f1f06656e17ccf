// SPDX-License-Identifier: Apache-2.0
// Values over time, stacked, with what was noted; a range of time can be chosen in it, by dragging or with the keyboard.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Annotation, Series } from "../api/series.ts";
import { formatTime } from "../lib/format.ts";
import { formatPoint, stackLayers, type Layer } from "../lib/series.ts";
import { isDark, zone } from "../lib/theme.ts";
import { useSize } from "./basics.tsx";
import { TimelinePlot } from "./timelinePlot.ts";
import { VirtualTable } from "./VirtualTable.tsx";
import "./Timeline.css";

interface TimelineProps {
  series: Series;
  label: string;
  height?: number; // a low one is a drawing alone, without its legend
  caption?: string; // makes it a strip: this and the value at the cursor stand in it, and times do not stand below it
  group?: string; // timelines of one group share the cursor and what is being brushed
  nShown?: number; // groups with a colour of their own; the rest is added up
  top?: number; // the axis goes at least to here: for timelines that are compared
  annotations?: readonly Annotation[];
  onRange?: (fromMs: number, untilMs: number) => void;
  onPick?: (labels: Record<string, string>) => void;
  onAnnotate?: (timeMs: number) => void;
}

const LOW_PIXELS = 80;

function colourOf(layer: Layer, index: number): string {
  return layer.labels === null ? "--chart-rest" : `--chart-${(index % 8) + 1}`;
}

const stripColour = "--chart-2";

function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** What is at a point, or over all of time where `index` is null, as text for a legend. */
function legendText(layer: Layer, index: number | null, unit: string): string {
  if (index === null) return formatPoint(layer.mean, unit);
  const value = layer.values[index];
  return value === null || value === undefined ? "–" : formatPoint(value, unit);
}

function Legend({
  layers,
  index,
  unit,
  onPick,
}: {
  layers: readonly Layer[];
  index: number | null;
  unit: string;
  onPick?: TimelineProps["onPick"];
}) {
  return (
    <ul class="legend" aria-label="Groups">
      {layers.map((layer, i) => {
        const content = (
          <>
            <span class="legend-swatch" style={{ background: `var(${colourOf(layer, i)})` }} aria-hidden="true" />
            <bdi class="clip">{layer.name}</bdi> <span class="number muted">{legendText(layer, index, unit)}</span>
          </>
        );
        const { labels } = layer;
        const canPick = onPick && labels !== null && Object.keys(labels).length > 0;
        return (
          <li key={i}>
            {canPick ? (
              <button type="button" title={`Show only ${layer.name}`} onClick={() => onPick(labels)}>
                {content}
              </button>
            ) : (
              <span>{content}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Notes({
  annotations,
  series,
  place,
}: {
  annotations: readonly Annotation[];
  series: Series;
  place: { left: number; width: number };
}) {
  const length = series.untilMs - series.fromMs;
  const shown = annotations.filter((one) => one.timeMs >= series.fromMs && one.timeMs < series.untilMs);
  return (
    <ul class="notes" aria-label="Annotations">
      {shown.map((one) => {
        const share = (one.timeMs - series.fromMs) / length;
        const text = `${formatTime(one.timeMs, zone.value)}: ${one.text}`;
        return (
          <li
            key={one.id}
            class={share > 0.5 ? "note at-right" : "note"}
            style={{ left: `${place.left + share * place.width}px` }}
          >
            <button type="button" aria-label={text}>
              <span class="note-text" aria-hidden="true">
                {text}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function PointTable({ series, layers, label }: { series: Series; layers: readonly Layer[]; label: string }) {
  const n = layers.reduce((most, layer) => Math.max(most, layer.values.length), 0);
  const rows = useMemo(() => Array.from({ length: n }, (_, i) => i), [n]);
  return (
    <VirtualTable
      label={`${label} as a table`}
      height="16em"
      rows={rows}
      keyOf={(row) => row}
      columns={[
        {
          id: "time",
          title: "Time",
          width: "11em",
          cell: (row) => formatTime(series.fromMs + row * series.stepMs, zone.value),
        },
        ...layers.map((layer, i) => ({
          id: String(i),
          title: layer.name,
          isNumber: true,
          width: "minmax(7em, 1fr)",
          cell: (row: number) => legendText(layer, row, series.unit),
        })),
      ]}
    />
  );
}

/** What the keyboard does: arrows walk over points, with Shift they choose a range, Enter takes it. */
function useKeyboardBrush(
  series: Series,
  n: number,
  onRange: TimelineProps["onRange"],
  onAnnotate: TimelineProps["onAnnotate"],
) {
  const [at, setAt] = useState<number | null>(null);
  const [anchor, setAnchor] = useState<number | null>(null);
  const range: [number, number] | null =
    at !== null && anchor !== null ? [Math.min(at, anchor), Math.max(at, anchor)] : null;
  const timeOf = (index: number) => Math.min(series.untilMs, series.fromMs + index * series.stepMs);
  const clear = () => {
    setAt(null);
    setAnchor(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || n === 0) return;
    const now = at ?? n - 1;
    const page = Math.max(1, Math.round(n / 10));
    const steps: Record<string, number> = {
      ArrowLeft: now - (at === null ? 0 : 1),
      ArrowRight: now + 1,
      PageUp: now - page,
      PageDown: now + page,
      Home: 0,
      End: n - 1,
    };
    if (event.key in steps) {
      if (!event.shiftKey) setAnchor(null);
      else if (anchor === null) setAnchor(now);
      setAt(Math.max(0, Math.min(n - 1, steps[event.key])));
    } else if (event.key === "Enter" && at !== null && onRange) {
      const [first, last] = range ?? [at, at];
      clear();
      onRange(timeOf(first), timeOf(last + 1));
    } else if (event.key === "n" && at !== null && onAnnotate) onAnnotate(timeOf(at));
    else if (event.key === "Escape" && at !== null) clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { at, range, onKeyDown, clear, timeOf };
}

/** Shows what the owner has loaded. `onRange` is called with the ends in milliseconds when somebody brushes; `onPick` with the
 * labels of a group when its entry in the legend is chosen; `onAnnotate` with the moment that somebody wants to write about. */
export function Timeline({
  series,
  label,
  height = 170,
  caption,
  group,
  nShown = 8,
  top = 0,
  annotations = [],
  onRange,
  onPick,
  onAnnotate,
}: TimelineProps) {
  const [host, { width }] = useSize<HTMLDivElement>();
  const plot = useRef<TimelinePlot | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [place, setPlace] = useState({ left: 0, width: 0 });
  const [isTable, setIsTable] = useState(false);
  const layers = useMemo(() => stackLayers(series, nShown), [series, nShown]);
  const n = layers.reduce((most, layer) => Math.max(most, layer.tops.length), 0);
  const keys = useKeyboardBrush(series, n, onRange, onAnnotate);
  const handlers = useRef({ onRange, onAnnotate });
  handlers.current = { onRange, onAnnotate };
  const colours = layers.map((layer, i) => (caption === undefined ? colourOf(layer, i) : stripColour));
  const shape = `${colours.join()}|${series.unit}|${isDark.value}|${zone.value}|${height}|${top}|${group}`;

  useEffect(() => {
    const made = new TimelinePlot(host.current!, {
      height,
      unit: series.unit,
      top,
      colours: colours.map(cssColour),
      ink: cssColour("--text-2"),
      grid: cssColour("--chart-grid"),
      zone: () => zone.peek(),
      group: group ?? null,
      hasTimes: caption === undefined,
      on: {
        hover: setHovered,
        brush: (fromMs, untilMs) => handlers.current.onRange?.(fromMs, untilMs),
        open: (timeMs) => handlers.current.onAnnotate?.(timeMs),
        place: (left, shown) =>
          setPlace((before) => (before.left === left && before.width === shown ? before : { left, width: shown })),
      },
    });
    plot.current = made;
    return () => made.destroy();
  }, [shape]);
  useEffect(() => plot.current?.set(series, layers), [series, layers, shape]);
  useEffect(() => plot.current?.setWidth(width), [width, shape]);
  useEffect(
    () => plot.current?.showSelection(keys.range ?? (keys.at === null ? null : [keys.at, keys.at])),
    [keys.at, keys.range?.[0], keys.range?.[1], shape],
  );
  const hadCursor = useRef(false);
  useEffect(() => {
    if (keys.at !== null || hadCursor.current) plot.current?.showCursor(keys.at);
    hadCursor.current = keys.at !== null;
  }, [keys.at, shape]);

  const index = keys.at ?? hovered;
  const timeText = index === null ? "" : formatTime(series.fromMs + index * series.stepMs, zone.value);
  const told =
    keys.at === null
      ? ""
      : `${timeText}: ${layers.map((layer) => `${layer.name} ${legendText(layer, keys.at, series.unit)}`).join(", ")}`;
  const chosen = keys.range
    ? `Chosen: ${formatTime(keys.timeOf(keys.range[0]), zone.value)} to ${formatTime(keys.timeOf(keys.range[1] + 1), zone.value)}. `
    : "";
  return (
    <figure class="timeline" aria-label={label}>
      <div class="timeline-plot">
        <div
          ref={host}
          class="timeline-host"
          style={{ height: `${height}px` }}
          role="slider"
          tabIndex={0}
          aria-label={`${label}. Arrows walk, Shift and arrows choose a range, Enter shows it`}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, n - 1)}
          aria-valuenow={index ?? Math.max(0, n - 1)}
          aria-valuetext={told ? chosen + told : `${n} points of time`}
          onKeyDown={keys.onKeyDown}
          onBlur={keys.clear}
        />
        {caption !== undefined && (
          <p class="timeline-caption" style={{ left: `${place.left}px` }} aria-hidden="true">
            {caption} <span class="number muted">{layers.map((layer) => legendText(layer, index, series.unit)).join(" ")}</span>
          </p>
        )}
        {place.width > 0 && annotations.length > 0 && <Notes annotations={annotations} series={series} place={place} />}
      </div>
      {height > LOW_PIXELS && (
        <div class="timeline-foot">
          <Legend layers={layers} index={index} unit={series.unit} {...(onPick ? { onPick } : {})} />
          <span class="timeline-time muted">{timeText || "mean"}</span>
          <button type="button" class="link-button" aria-expanded={isTable} onClick={() => setIsTable(!isTable)}>
            {isTable ? "Hide the table" : "As a table"}
          </button>
        </div>
      )}
      {isTable && <PointTable series={series} layers={layers} label={label} />}
    </figure>
  );
}
