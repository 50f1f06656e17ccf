// SPDX-License-Identifier: Apache-2.0
// Keys of the keyboard, each with what it does, so that `?` can show them. A key is one of KeyboardEvent.key ("/", "?",
// "Escape") or two one after the other ("g f"). Nothing happens while somebody types into a field.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface KeyBinding {
  keys: string;
  what: string; // a sentence without a full stop
  group: string; // the heading in the map
  run?: (event: KeyboardEvent) => void; // absent: a part of the page handles it itself; it is only shown in the map
}

export const bindings = signal<readonly KeyBinding[]>([]);
let pending = "";
let pendingTimer = 0;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT" ||
    (target.tagName === "INPUT" && !["checkbox", "radio", "button", "range"].includes((target as HTMLInputElement).type));
}

/** Puts keys into use as long as the component is on screen. `list` may be made anew at each call. */
export function useKeys(list: readonly KeyBinding[]): void {
  useEffect(() => {
    bindings.value = [...bindings.peek(), ...list];
    return () => {
      bindings.value = bindings.peek().filter((binding) => !list.includes(binding));
    };
  });
}

export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    const typed = pending ? `${pending} ${event.key}` : event.key;
    const runs = bindings.peek().filter((binding) => binding.run);
    const found = runs.findLast((binding) => binding.keys === typed);
    pending = "";
    clearTimeout(pendingTimer);
    if (found) {
      event.preventDefault();
      found.run!(event);
    } else if (runs.some((binding) => binding.keys.startsWith(`${typed} `))) {
      pending = typed;
      pendingTimer = window.setTimeout(() => (pending = ""), 1500);
    }
  });
}
