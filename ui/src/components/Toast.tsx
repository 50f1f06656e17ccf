// SPDX-License-Identifier: Apache-2.0
// Short news at the bottom of the page: "Link copied."

import { signal } from "@preact/signals";

const toasts = signal<readonly { id: number; text: string }[]>([]);
let lastId = 0;

export function toast(text: string): void {
  const id = ++lastId;
  toasts.value = [...toasts.peek().slice(-2), { id, text }];
  setTimeout(() => (toasts.value = toasts.peek().filter((one) => one.id !== id)), 3500);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div class="toast" key={one.id}>{one.text}</div>
      ))}
    </div>
  );
}
