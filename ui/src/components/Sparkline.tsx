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

/** How far points that belong together are apart at most: senders may report less often than there are points. */
function reachOf(places: readonly number[]): number {
  const gaps = places.slice(1).map((place, i) => place - places[i]).sort((a, b) => a - b);
  return 2 * (gaps[gaps.length >> 1] ?? 0);
}

/** The path of the points in a box, broken where there are none for longer than usual; a bar where one stands alone. */
export function sparkPath(points: readonly (number | null)[], max: number, width: number, height: number): string {
  const step = points.length > 1 ? width / (points.length - 1) : 0;
  const places = points.flatMap((value, i) => (isValue(value) ? [i] : []));
  const reach = reachOf(places);
  let path = "";
  places.forEach((place, i) => {
    const y = height - 1 - (max > 0 ? Math.max(0, points[place]!) / max : 0) * (height - 2);
    const isStart = i === 0 || place - places[i - 1] > reach;
    const isAlone = isStart && (i + 1 === places.length || places[i + 1] - place > reach);
    path += `${isStart ? "M" : "L"}${(place * step).toFixed(1)} ${y.toFixed(1)}${isAlone ? `V${height - 1}` : ""}`;
  });
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
