// SPDX-License-Identifier: Apache-2.0
// A small line of values over time, with the values of another range behind it. Both stand on 0 and share one scale. It says
// nothing that the numbers beside it do not say, so screen readers are spared.

import "./Sparkline.css";

export interface SparklineProps {
  points: readonly (number | null)[] | null;
  behind?: readonly (number | null)[] | null;
  width?: number; // of the drawing; it is stretched to its cell
  height?: number;
}

const isValue = (value: number | null | undefined): value is number => typeof value === "number" && Number.isFinite(value);

/** The path of the points in a box; gaps where there are none, and a dot where one stands alone. */
export function sparkPath(points: readonly (number | null)[], max: number, width: number, height: number): string {
  const step = points.length > 1 ? width / (points.length - 1) : 0;
  let path = "";
  for (let i = 0; i < points.length; i++) {
    const value = points[i];
    if (!isValue(value)) continue;
    const x = (i * step).toFixed(1);
    const y = (height - 1 - (max > 0 ? Math.max(0, value) / max : 0) * (height - 2)).toFixed(1);
    const isStart = !isValue(points[i - 1]);
    path += `${isStart ? "M" : "L"}${x} ${y}`;
    if (isStart && !isValue(points[i + 1])) path += "h0.1";
  }
  return path;
}

export function Sparkline({ points, behind, width = 120, height = 24 }: SparklineProps) {
  const max = [...(points ?? []), ...(behind ?? [])].reduce<number>((most, value) => (isValue(value) && value > most ? value : most), 0);
  return (
    <svg class="sparkline" viewBox={`-1 -1 ${width + 2} ${height + 2}`} height={height} aria-hidden="true" preserveAspectRatio="none">
      {behind && <path class="spark-behind" d={sparkPath(behind, max, width, height)} />}
      {points && <path class="spark-line" d={sparkPath(points, max, width, height)} />}
    </svg>
  );
}
