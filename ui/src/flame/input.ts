// SPDX-License-Identifier: Apache-2.0
// Mouse, touch, wheel and keys, told to the view as what they mean. Places are in pixels of the window.

export interface Gestures {
  point(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  doubleClick(): void;
  menu(x: number, y: number): void;
  /** Moves the graph with the pointer. */
  drag(dx: number, dy: number): void;
  dragEnd(): void;
  /** `factor` > 1 shows more. */
  zoom(x: number, factor: number): void;
  pan(dx: number): void;
  /** Returns false if there is nothing to scroll that way, so that the page scrolls. */
  scroll(dy: number): boolean;
  /** Returns false if the key means nothing here. */
  key(event: KeyboardEvent): boolean;
  focused(isFocused: boolean): void;
}

const DRAG_PIXELS = 4;
const LINE_PIXELS = 18;

interface Place {
  x: number;
  y: number;
}

/** Listens until `signal` is aborted. */
export function listenToStage(stage: HTMLElement, gestures: Gestures, signal: AbortSignal): void {
  const pointers = new Map<number, Place>();
  let start: Place = { x: 0, y: 0 };
  let isDragging = false;
  let wasPinched = false;
  const on = <K extends keyof HTMLElementEventMap>(type: K, handle: (event: HTMLElementEventMap[K]) => void) =>
    stage.addEventListener(type, handle, { signal, passive: false });

  /** Where two fingers are, and how far apart. */
  const pinch = () => {
    const [a, b] = [...pointers.values()];
    return { x: (a.x + b.x) / 2, distance: Math.max(10, Math.hypot(a.x - b.x, a.y - b.y)) };
  };

  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size === 1) {
      start = { x: event.clientX, y: event.clientY };
      isDragging = wasPinched = false;
    } else wasPinched = true;
  });

  on("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) {
      if (event.pointerType !== "touch") gestures.point(event.clientX, event.clientY);
      return;
    }
    const now = { x: event.clientX, y: event.clientY };
    if (pointers.size === 2) {
      const before = pinch();
      pointers.set(event.pointerId, now);
      const after = pinch();
      gestures.zoom(after.x, before.distance / after.distance);
      gestures.pan(before.x - after.x);
      return;
    }
    if (!isDragging && !wasPinched && Math.hypot(now.x - start.x, now.y - start.y) >= DRAG_PIXELS) {
      isDragging = true;
      stage.classList.add("is-dragging");
      gestures.leave();
    }
    if (isDragging) {
      gestures.drag(now.x - last.x, now.y - last.y);
      pointers.set(event.pointerId, now);
    }
  });

  const release = (event: PointerEvent, isClick: boolean) => {
    if (!pointers.delete(event.pointerId) || pointers.size > 0) return;
    stage.classList.remove("is-dragging");
    if (isDragging) gestures.dragEnd();
    else if (isClick && !wasPinched) gestures.click(event.clientX, event.clientY);
    isDragging = false;
  };
  on("pointerup", (event) => release(event, true));
  on("pointercancel", (event) => release(event, false));
  on("pointerleave", () => gestures.leave());
  on("dblclick", () => gestures.doubleClick());
  on("contextmenu", (event) => {
    event.preventDefault();
    gestures.menu(event.clientX, event.clientY);
  });

  on("wheel", (event) => {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? stage.clientHeight : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    let isUsed = true;
    if (event.ctrlKey || event.metaKey) gestures.zoom(event.clientX, Math.exp(Math.max(-40, Math.min(40, dy)) * 0.01));
    else if (event.shiftKey) gestures.pan(dx || dy);
    else if (Math.abs(dx) > Math.abs(dy)) gestures.pan(dx);
    else isUsed = gestures.scroll(dy);
    if (isUsed) event.preventDefault();
  });

  on("keydown", (event) => {
    if (gestures.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
  on("focus", () => gestures.focused(true));
  on("blur", () => gestures.focused(false));
}
