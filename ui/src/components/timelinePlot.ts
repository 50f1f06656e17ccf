// SPDX-License-Identifier: Apache-2.0
// The drawing of a timeline: uPlot with stairs instead of lines, since a point stands for a step of time. It knows nothing of
// the page around it.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Series } from "../api/series.ts";
import { formatTime, type Zone } from "../lib/format.ts";
import { formatPoint, type Layer } from "../lib/series.ts";

export interface PlotOptions {
  height: number;
  unit: string;
  top: number; // the axis goes at least to here
  colours: readonly string[]; // one for each layer
  ink: string;
  grid: string;
  zone: () => Zone;
  group: string | null; // plots of one group share the cursor and what is being brushed
  hasTimes: boolean; // below the plot
  on: {
    hover: (index: number | null) => void;
    brush: (fromMs: number, untilMs: number) => void;
    open: (timeMs: number) => void; // a double click
    place: (left: number, width: number) => void; // where the plotting area is, in pixels of the host
  };
}

const headroom = 1.06; // of the axis, above the largest value
const byteSteps = Array.from({ length: 60 }, (_, power) => 2 ** power);

/** Labels of the axis: times of day, and the day where it changes. */
function timeLabels(zone: Zone, splits: readonly number[], incr: number): string[] {
  let day = "";
  return splits.map((seconds) => {
    const text = formatTime(seconds * 1000, zone);
    const label = incr >= 86400 ? text.slice(5, 10) : incr < 60 ? text.slice(11) : text.slice(11, 16);
    const isNewDay = incr < 86400 && day !== "" && day !== text.slice(0, 10);
    day = text.slice(0, 10);
    return isNewDay ? `${label}\n${day.slice(5)}` : label;
  });
}

/** A layer from the bottom to its top; gaps are left out. */
function stairs(stepSeconds: () => number): uPlot.Series.PathBuilder {
  return (u, index, first, last) => {
    const fill = new Path2D();
    const [times, tops] = [u.data[0], u.data[index]];
    const scale = u.series[index].scale!;
    const zero = Math.round(u.valToPos(0, scale, true));
    for (let i = first; i <= last; i++) {
      const top = tops[i];
      if (top === null || top === undefined) continue;
      const left = Math.round(u.valToPos(times[i], "x", true));
      const right = Math.max(left + 1, Math.round(u.valToPos(times[i] + stepSeconds(), "x", true)));
      const y = Math.round(u.valToPos(top, scale, true));
      fill.rect(left, Math.min(y, zero), right - left, Math.max(top === 0 ? 0 : 1, Math.abs(zero - y)));
    }
    return { fill, stroke: null, clip: null, band: null, gaps: [], flags: 0 };
  };
}

export class TimelinePlot {
  private readonly plot: uPlot;
  private stepSeconds = 1;
  private fromSeconds = 0;
  private untilSeconds = 1;

  constructor(
    host: HTMLElement,
    private readonly options: PlotOptions,
  ) {
    const { unit, zone, ink, grid, on } = options;
    const layers = options.colours.map((colour): uPlot.Series => ({
      fill: colour,
      width: 0,
      points: { show: false },
      paths: stairs(() => this.stepSeconds),
    }));
    const isBytes = unit.startsWith("bytes");
    const axis = {
      stroke: ink,
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid, width: 1, size: 4 },
      font: "11px system-ui, sans-serif",
    };
    this.plot = new uPlot(
      {
        width: Math.max(100, host.clientWidth),
        height: options.height,
        legend: { show: false },
        padding: options.hasTimes ? [8, 20, 0, 0] : [4, 20, 2, 0],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => null },
          ...(options.group === null ? {} : { sync: { key: options.group, scales: ["x", null] } }),
        },
        scales: {
          x: { time: true, range: () => [this.fromSeconds, this.untilSeconds] },
          y: { range: (_u, min, max) => [Math.min(0, min ?? 0), Math.max(max ?? 0, options.top) * headroom || 1] },
        },
        axes: [
          {
            ...axis,
            space: 64,
            ...(options.hasTimes
              ? {
                  size: options.height < 100 ? 22 : 34,
                  values: (_u, splits, _axis, _space, incr) => timeLabels(zone(), splits, incr),
                }
              : { size: 0, ticks: { show: false }, values: () => [] }),
          },
          {
            ...axis,
            size: 66,
            space: Math.min(30, options.height / 6),
            ...(options.hasTimes ? {} : { splits: (u) => [(u.scales.y.max ?? 0) / headroom] }), /* what its top is */
            ...(isBytes ? { incrs: byteSteps } : {}),
            values: (_u, splits) => splits.map((value) => formatPoint(value, unit).replace(/ cores?$/, "")),
          },
        ],
        tzDate: (seconds) =>
          zone() === "utc" ? uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") : new Date(seconds * 1000),
        series: [{}, ...layers.reverse()],
        hooks: {
          setCursor: [
            (u) =>
              on.hover(
                u.cursor.left !== undefined && u.cursor.left >= 0 ? this.indexAt(u.posToVal(u.cursor.left, "x")) : null,
              ),
          ],
          setSelect: [(u) => this.takeSelection(u)],
          draw: [(u) => on.place(u.bbox.left / devicePixelRatio, u.bbox.width / devicePixelRatio)],
        },
      },
      [[0], ...layers.map(() => [null])] as uPlot.AlignedData,
      host,
    );
    this.plot.over.addEventListener("dblclick", (event) => on.open(this.plot.posToVal(event.offsetX, "x") * 1000));
  }

  /** As many layers as there are colours. */
  set(series: Series, layers: readonly Layer[]): void {
    this.stepSeconds = series.stepMs / 1000;
    this.fromSeconds = series.fromMs / 1000;
    this.untilSeconds = series.untilMs / 1000;
    const n = layers.reduce((most, layer) => Math.max(most, layer.tops.length), 0);
    const times = Array.from({ length: n }, (_, i) => this.fromSeconds + i * this.stepSeconds);
    this.plot.setData([times, ...layers.map((layer) => layer.tops).reverse()] as uPlot.AlignedData);
  }

  setWidth(width: number): void {
    if (width > 0) this.plot.setSize({ width, height: this.options.height });
  }

  /** Shows a range of points as chosen; null for none. */
  showSelection(range: [number, number] | null): void {
    if (!range) return this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    const place = (index: number) => this.plot.valToPos(this.fromSeconds + index * this.stepSeconds, "x");
    const [left, right] = [place(range[0]), place(range[1] + 1)];
    this.plot.setSelect({ left, top: 0, width: right - left, height: this.plot.over.clientHeight }, false);
  }

  /** Puts the cursor on a point, in all plots of the group; null takes it away. */
  showCursor(index: number | null): void {
    const left = index === null ? -10 : this.plot.valToPos(this.fromSeconds + (index + 0.5) * this.stepSeconds, "x");
    /* The third argument, which its types do not tell of, says whether the others of the group are told. */
    const setCursor = this.plot.setCursor as (at: { left: number; top: number }, fires: boolean, isTold: boolean) => void;
    setCursor({ left, top: index === null ? -10 : 1 }, true, true);
  }

  destroy(): void {
    this.plot.destroy();
  }

  private indexAt(seconds: number): number | null {
    const index = Math.floor((seconds - this.fromSeconds) / this.stepSeconds);
    return index >= 0 && index < this.plot.data[0].length ? index : null;
  }

  /** What was brushed, taken to whole steps. Another plot of the group, where there is no event, takes its own. */
  private takeSelection(u: uPlot): void {
    const { left, width } = u.select;
    if (!u.cursor.event) return this.showSelection(null);
    if (width < 3) return;
    const stepAt = (x: number) => (u.posToVal(x, "x") - this.fromSeconds) / this.stepSeconds;
    const [first, end] = [Math.floor(stepAt(left)), Math.ceil(stepAt(left + width))];
    this.showSelection(null);
    const at = (step: number) => Math.min(this.untilSeconds, this.fromSeconds + step * this.stepSeconds) * 1000;
    this.options.on.brush(at(Math.max(0, first)), at(end));
  }
}
