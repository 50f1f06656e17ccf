// SPDX-License-Identifier: Apache-2.0
// Times above the bars. Dragging over it chooses the part of the time that is shown.

import { useState } from "preact/hooks";
import { clampRange, type Range } from "../../flame/range.ts";
import { formatDuration } from "../../lib/format.ts";
import { placeOf, ticksOf } from "./bars.ts";
import type { RowLayout } from "./WaterfallRow.tsx";

const LABEL_WIDTH = 48;

/** Ticks that differ by less than a hundredth need more digits than durations have: they count from the first one. */
function tickText(tick: number, ticks: readonly number[]): string {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : tick;
  if (tick === 0 || step * 100 > tick || tick === ticks[0]) return formatDuration(tick);
  return `+${formatDuration(tick - ticks[0])}`;
}

export function Ruler({ layout, whole, onShow }: { layout: RowLayout; whole: Range; onShow: (range: Range) => void }) {
  const { nameWidth, numberWidth, timeWidth, range } = layout;
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const ticks = ticksOf(range, timeWidth, timeWidth < 300 ? 74 : 110);
  const xOf = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return Math.min(timeWidth, Math.max(0, event.clientX - box.left));
  };
  const timeAt = (x: number) => range.v0 + (x / timeWidth) * (range.v1 - range.v0);
  return (
    <div class="ruler" aria-hidden="true">
      <span class="ruler-title" style={{ width: `${nameWidth}px` }}>Span</span>
      <span class="ruler-title number" style={{ width: `${numberWidth}px` }}>Took</span>
      <div
        class="ruler-time"
        style={{ width: `${timeWidth}px` }}
        title="Drag to choose a part of the time"
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: xOf(event), to: xOf(event) });
        }}
        onPointerMove={(event) => {
          if (drag) setDrag({ ...drag, to: xOf(event) });
        }}
        onPointerUp={(event) => {
          if (drag && Math.abs(xOf(event) - drag.from) > 3) {
            const [a, b] = [timeAt(drag.from), timeAt(xOf(event))];
            onShow(clampRange(Math.min(a, b), Math.max(a, b), whole.v1));
          }
          setDrag(null);
        }}
        onPointerCancel={() => setDrag(null)}
        onDblClick={() => onShow(whole)}
      >
        {ticks.map((tick, i) => {
          const x = placeOf(tick, range, timeWidth);
          const isLast = x > timeWidth - LABEL_WIDTH;
          const hasRoom = !isLast || i === 0 || x - placeOf(ticks[i - 1], range, timeWidth) > 2 * LABEL_WIDTH;
          return (
            <span key={tick} class={isLast ? "ruler-tick last" : "ruler-tick"} style={{ transform: `translateX(${x}px)` }}>
              {hasRoom && <span>{tickText(tick, ticks)}</span>}
            </span>
          );
        })}
        {drag && <span class="ruler-drag" style={{ left: `${Math.min(drag.from, drag.to)}px`, width: `${Math.abs(drag.to - drag.from)}px` }} />}
      </div>
    </div>
  );
}
