// SPDX-License-Identifier: Apache-2.0
// The traces that were found as dots: when they started and how long they took, on a scale on which each step is ten times the
// one before. The list below says the same in words, so screen readers are spared.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FoundTrace } from "../../api/traces.ts";
import { useSize } from "../../components/basics.tsx";
import { formatDuration, formatTime, shortened } from "../../lib/format.ts";
import { navigate } from "../../lib/route.ts";
import { colourOf } from "../../lib/services.ts";
import { isDark, zone } from "../../lib/theme.ts";
import { dotsOf, nearestDot, type Dot, type Plot } from "./dots.ts";

const HEIGHT = 96;
const LEFT = 64;
const PAD = 8;

function draw(canvas: HTMLCanvasElement, width: number, { dots, lowNs, highNs }: Plot, pointed: Dot | null): void {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(name);
  context.scale(ratio, ratio);
  context.font = `11px ${style.fontFamily}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const plot = { width: width - LEFT - PAD, height: HEIGHT - 2 * PAD };
  const nSteps = Math.round(Math.log10(highNs / lowNs));
  const every = Math.ceil(nSteps / 4);
  for (let step = 0; step <= nSteps; step += every) {
    const y = Math.round(PAD + plot.height * (1 - step / nSteps)) + 0.5;
    context.fillStyle = colour("--chart-grid");
    context.fillRect(LEFT, y - 0.5, plot.width, 1);
    context.fillStyle = colour("--text-2");
    context.fillText(formatDuration(lowNs * 10 ** step), LEFT - 6, y);
  }
  for (const dot of dots) {
    const [x, y] = [LEFT + dot.x * plot.width, PAD + dot.y * plot.height];
    context.beginPath();
    context.arc(x, y, dot === pointed ? 6 : 3.5, 0, 2 * Math.PI);
    context.fillStyle = colour(`--chart-${1 + colourOf(dot.trace.root.service)}`);
    context.globalAlpha = dot === pointed ? 1 : 0.75;
    context.fill();
    context.globalAlpha = 1;
    if (dot.trace.n_errors === 0) continue;
    context.lineWidth = 2;
    context.strokeStyle = colour("--bad");
    context.stroke();
  }
}

export function Scatter({ traces }: { traces: readonly FoundTrace[] }) {
  const [host, { width }] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointed, setPointed] = useState<Dot | null>(null);
  const plot = useMemo(() => dotsOf(traces), [traces]);
  const dark = isDark.value;
  useEffect(() => {
    if (width > 0) draw(canvas.current!, width, plot, pointed);
  }, [plot, width, pointed, dark]);
  const dotAt = (event: PointerEvent | MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return nearestDot(plot.dots, event.clientX - box.left - LEFT, event.clientY - box.top - PAD, width - LEFT - PAD, HEIGHT - 2 * PAD);
  };
  return (
    <div class={pointed ? "scatter pointing" : "scatter"} ref={host} aria-hidden="true">
      <canvas
        ref={canvas}
        onPointerMove={(event) => setPointed(dotAt(event))}
        onPointerLeave={() => setPointed(null)}
        onClick={(event) => {
          const dot = dotAt(event);
          if (dot) navigate({ view: "traces", rest: dot.trace.trace_id });
        }}
      />
      <p class="scatter-note">
        <span class="number">{formatTime(plot.fromMs, zone.value)}</span>
        <span class="clip">
          {pointed
            ? `${shortened(pointed.trace.root.operation, 80)}: ${formatDuration(pointed.trace.duration_ns)} at ${formatTime(pointed.trace.start_ns / 1e6, zone.value).slice(11)}`
            : "Duration over time; a click opens a trace"}
        </span>
        <span class="number">{formatTime(plot.untilMs, zone.value).slice(11)}</span>
      </p>
    </div>
  );
}
