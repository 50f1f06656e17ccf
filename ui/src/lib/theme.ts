// SPDX-License-Identifier: Apache-2.0
// Light or dark: what the system says unless somebody chose; and what people chose once for all views (their time zone, the
// template of links to source code). Kept in this browser.

import { computed, effect, signal } from "@preact/signals";
import type { Zone } from "./format.ts";

function kept(name: string): string {
  try {
    return localStorage.getItem(`hearth.${name}`) ?? "";
  } catch {
    return ""; /* storage may be forbidden */
  }
}

function keep(name: string, value: string): void {
  try {
    if (value) localStorage.setItem(`hearth.${name}`, value);
    else localStorage.removeItem(`hearth.${name}`);
  } catch {
    /* then it holds for this page alone */
  }
}

export type ThemeChoice = "system" | "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", (event) => (systemIsDark.value = event.matches));

const choice = kept("theme");
export const themeChoice = signal<ThemeChoice>(choice === "light" || choice === "dark" ? choice : "system");
export const isDark = computed(() => (themeChoice.value === "system" ? systemIsDark.value : themeChoice.value === "dark"));
effect(() => {
  const chosen = themeChoice.value;
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  keep("theme", chosen === "system" ? "" : chosen);
});

const calm = matchMedia("(prefers-reduced-motion: reduce)");
export const isReduced = signal(calm.matches);
calm.addEventListener("change", (event) => (isReduced.value = event.matches));

export const zone = signal<Zone>(kept("zone") === "utc" ? "utc" : "local");
effect(() => keep("zone", zone.value === "utc" ? "utc" : ""));

/** Where source code is to be seen, like https://example.org/{module}/{file}#L{line}; "" = nowhere. */
export const sourceTemplate = signal(kept("source"));
effect(() => keep("source", sourceTemplate.value));
