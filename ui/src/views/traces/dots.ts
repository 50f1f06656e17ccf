// SPDX-License-Identifier: Apache-2.0
// Traces as dots: when they started and how long they took.

import type { FoundTrace } from "../../api/traces.ts";

const REACH = 14; /* pixels from the pointer to a dot that is meant */

export interface Dot {
  x: number; // 0 to 1
  y: number; // 0 at the top to 1
  trace: FoundTrace;
}

/** Dots, and the durations at the ends of the scale: powers of ten. */
export function dotsOf(traces: readonly FoundTrace[], fromMs: number, untilMs: number): { dots: Dot[]; lowNs: number; highNs: number } {
  const durations = traces.map((trace) => Math.max(1, trace.duration_ns));
  const low = Math.floor(Math.log10(Math.min(...durations)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...durations))));
  const length = Math.max(1, untilMs - fromMs);
  const dots = traces.map((trace, i) => ({
    trace,
    x: Math.min(1, Math.max(0, (trace.start_ns / 1e6 - fromMs) / length)),
    y: 1 - (Math.log10(durations[i]) - low) / (high - low),
  }));
  return { dots, lowNs: 10 ** low, highNs: 10 ** high };
}

export function nearestDot(dots: readonly Dot[], x: number, y: number, width: number, height: number): Dot | null {
  let [found, best]: [Dot | null, number] = [null, REACH ** 2];
  for (const dot of dots) {
    const distance = (dot.x * width - x) ** 2 + (dot.y * height - y) ** 2;
    if (distance <= best) [found, best] = [dot, distance];
  }
  return found;
}
