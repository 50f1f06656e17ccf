// SPDX-License-Identifier: Apache-2.0
// All of the trace, squeezed into a strip, and which part of its time is shown. Dragging that part moves it; dragging elsewhere
// chooses a new one, a double click shows all. On the waterfall, keys do the same.

import { useEffect, useRef } from "preact/hooks";
import { listenToOverview } from "../../flame/minimap.ts";
import type { Range } from "../../flame/range.ts";
import { colourOf, nColours } from "../../lib/services.ts";
import { isDark } from "../../lib/theme.ts";
import type { SpanTree } from "./spans.ts";

const HEIGHT = 52;

function draw(canvas: HTMLCanvasElement, tree: SpanTree, width: number): void {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(canvas);
  const colours = Array.from({ length: nColours }, (_, i) => style.getPropertyValue(`--chart-${i + 1}`));
  const scale = canvas.width / tree.lengthNs;
  const rowHeight = Math.min(6 * ratio, canvas.height / tree.spans.length);
  const barHeight = Math.max(1, rowHeight * 0.75);
  for (const [i, span] of tree.spans.entries()) {
    context.fillStyle = colours[colourOf(span.service)];
    context.fillRect(span.offset_ns * scale, i * rowHeight, Math.max(1, span.duration_ns * scale), barHeight);
  }
  context.fillStyle = style.getPropertyValue("--bad");
  for (const [i, span] of tree.spans.entries()) {
    if (span.status === "error") context.fillRect(span.offset_ns * scale, i * rowHeight, Math.max(3 * ratio, span.duration_ns * scale), Math.max(2, barHeight));
  }
}

export function Minimap({ tree, range, whole, inset, width, onShow }: {
  tree: SpanTree;
  range: Range;
  whole: Range;
  inset: number; // pixels to the left of the time
  width: number;
  onShow: (range: Range) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const now = useRef({ range, whole, onShow });
  now.current = { range, whole, onShow };
  const dark = isDark.value;
  useEffect(() => draw(canvas.current!, tree, width), [tree, width, dark]);
  useEffect(() => {
    const controller = new AbortController();
    const view = {
      range: () => now.current.range,
      total: () => now.current.whole.v1,
      show: (next: Range) => now.current.onShow(next),
      showAll: () => now.current.onShow(now.current.whole),
    };
    listenToOverview(canvas.current!, view, controller.signal);
    return () => controller.abort();
  }, []);
  const [left, right] = [(range.v0 / whole.v1) * width, (range.v1 / whole.v1) * width];
  return (
    <div class="trace-map" style={{ marginLeft: `${inset}px`, width: `${width}px` }} title="Drag to choose a part of the time; a double click shows all.">
      <canvas ref={canvas} aria-hidden="true" style={{ width: `${width}px`, height: `${HEIGHT}px` }} />
      <span class="trace-map-shade" style={{ left: "0", width: `${left}px` }} />
      <span class="trace-map-shade" style={{ left: `${right}px`, right: "0" }} />
      {(left > 0.5 || right < width - 0.5) && <span class="trace-map-window" style={{ left: `${left}px`, width: `${Math.max(2, right - left)}px` }} />}
    </div>
  );
}
