// SPDX-License-Identifier: Apache-2.0
// The part of a trace's time that is shown: kept here while it moves, in the URL when it rests.

import { useEffect, useRef, useState } from "preact/hooks";
import { panRange, zoomRange, type Range } from "../../flame/range.ts";
import { navigate, route } from "../../lib/route.ts";
import { parseWindow, printWindow } from "./bars.ts";

const URL_DELAY_MS = 250;

export function useWindow(whole: Range): [Range, (range: Range) => void] {
  const text = route.value.params.get("window") ?? "";
  const [range, setRange] = useState(() => parseWindow(text, whole));
  const timer = useRef(0);
  const written = useRef(text);
  /* What others wrote (the back button) wins; what was written from here is older than what is shown by now. */
  useEffect(() => {
    if (text === written.current) return;
    clearTimeout(timer.current);
    written.current = text;
    setRange(parseWindow(text, whole));
  }, [text, whole]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = (next: Range) => {
    setRange(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      const place = printWindow(next, whole);
      written.current = place ?? "";
      navigate({ params: { window: place } }, "replace");
    }, URL_DELAY_MS);
  };
  return [range, show];
}

export interface WheelMoves {
  range: Range;
  totalNs: number;
  left: number; // where the time begins in the element, in pixels
  width: number;
  show: (range: Range) => void;
}

/** Ctrl and the wheel zoom around the pointer; shift, or a wheel that turns sideways, moves. */
export function useWheel(element: HTMLElement | null, moves: WheelMoves): void {
  const latest = useRef(moves);
  latest.current = moves;
  useEffect(() => {
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      const { range, totalNs, left, width, show } = latest.current;
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!event.ctrlKey && !isSideways) return;
      event.preventDefault();
      const at = Math.min(1, Math.max(0, (event.clientX - element.getBoundingClientRect().left - left) / width));
      if (event.ctrlKey) show(zoomRange(range, at, 1.0025 ** event.deltaY, totalNs));
      else show(panRange(range, ((event.deltaX || event.deltaY) / width) * (range.v1 - range.v0), totalNs));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [element]);
}
