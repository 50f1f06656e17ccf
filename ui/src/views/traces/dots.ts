// SPDX-License-Identifier: Apache-2.0
// Traces as dots: when they started and how long they took.

import type { FoundTrace } from "../../api/traces.ts";

const REACH = 14; /* pixels from the pointer to a dot that is meant */

export interface Dot {
  x: number; // 0 to 1
  y: number; // 0 at the top to 1
  trace: FoundTrace;
}

export interface Plot {
  dots: Dot[];
  fromMs: number; // what the left and right edges mean
  untilMs: number;
  lowNs: number; // and the ends of the scale: powers of ten
  highNs: number;
}

const LEAST_MS = 1000;

/** From the first of some traces (there is one at least) to the last: pages of a list may be of a small part of the time. */
export function dotsOf(traces: readonly FoundTrace[]): Plot {
  const durations = traces.map((trace) => Math.max(1, trace.duration_ns));
  const starts = traces.map((trace) => trace.start_ns / 1e6);
  const low = Math.floor(Math.log10(Math.min(...durations)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...durations))));
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  const margin = Math.max(0, LEAST_MS - (last - first)) / 2;
  const [fromMs, untilMs] = [first - margin, last + margin];
  const dots = traces.map((trace, i) => ({
    trace,
    x: (starts[i] - fromMs) / (untilMs - fromMs),
    y: 1 - (Math.log10(durations[i]) - low) / (high - low),
  }));
  return { dots, fromMs, untilMs, lowNs: 10 ** low, highNs: 10 ** high };
}

export function nearestDot(dots: readonly Dot[], x: number, y: number, width: number, height: number): Dot | null {
  let [found, best]: [Dot | null, number] = [null, REACH ** 2];
  for (const dot of dots) {
    const distance = (dot.x * width - x) ** 2 + (dot.y * height - y) ** 2;
    if (distance <= best) [found, best] = [dot, distance];
  }
  return found;
}
