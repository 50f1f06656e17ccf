// SPDX-License-Identifier: Apache-2.0
// One URL is one view: the path says which, the parameters all of its state. Views read `route` (a signal) and change it by
// navigate(); back and forward change it too. A parameter that has its default value is left out of the URL.

import { computed, signal, type ReadonlySignal } from "@preact/signals";

export type ViewName = "fleet" | "explore" | "traces" | "compare" | "status" | "adhoc";

export interface Route {
  view: ViewName;
  rest: string; // of the path behind the view: the id of an ad-hoc profile or of a trace
  params: ReadonlyMap<string, string>;
}

export type Params = Record<string, string | null | undefined>;

const views: ViewName[] = ["explore", "traces", "compare", "status", "adhoc"];

/** Below which path the page lives: "/" unless a proxy says otherwise in <base>. */
const basePath = typeof document === "undefined" ? "/" : new URL(document.baseURI).pathname;

/** A part of a path as text; as it stands where it is no valid escape. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parseRoute(path: string, query: string): Route {
  const [first = "", ...rest] = path.slice(path.startsWith(basePath) ? basePath.length : 1).split("/");
  const view = views.find((name) => name === first) ?? "fleet";
  return { view, rest: decoded(rest.join("/")), params: new Map(new URLSearchParams(query)) };
}

/** The address of a view, to be put into href. Empty values are left out. */
export function urlOf(view: ViewName, params: Params | ReadonlyMap<string, string> = {}, rest = ""): string {
  const pairs = params instanceof Map ? [...params] : Object.entries(params as Params);
  const query = new URLSearchParams();
  for (const [name, value] of pairs) if (value !== null && value !== undefined && value !== "") query.set(name, value);
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%3B", ";").replaceAll("%2F", "/");
  const path = basePath + (view === "fleet" ? "" : view) + (rest ? `/${encodeURIComponent(rest)}` : "");
  return text ? `${path}?${text}` : path;
}

const here = typeof location === "undefined" ? { pathname: "/", search: "" } : location;
export const route = signal<Route>(parseRoute(here.pathname, here.search));

/** Goes to another view, or, without `view`, changes parameters of this one (null takes one away). "push" makes a step that
 * the back button undoes; "replace" is for what changes all the time, such as a search while it is typed. */
export function navigate(
  change: { view?: ViewName; rest?: string; params?: Params },
  how: "push" | "replace" = "push",
): void {
  const now = route.peek();
  const isSame = change.view === undefined;
  const params = new Map(isSame ? now.params : []);
  for (const [name, value] of Object.entries(change.params ?? {})) {
    if (value === null || value === undefined || value === "") params.delete(name);
    else params.set(name, value);
  }
  const next = { view: change.view ?? now.view, rest: change.rest ?? (isSame ? now.rest : ""), params };
  const url = urlOf(next.view, next.params, next.rest);
  if (url === location.pathname + location.search) return;
  if (how === "push") history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  route.value = next;
  if (!isSame && how === "push") window.scrollTo(0, 0);
}

/** A parameter of the URL as a signal; `fallback` where it is not given. */
export function param(name: string, fallback = ""): ReadonlySignal<string> {
  return computed(() => route.value.params.get(name) ?? fallback);
}

/** Keeps `route` what the address bar says, and lets plain clicks on links of the page go without loading it again. */
export function followHistory(): void {
  addEventListener("popstate", () => {
    route.value = parseRoute(location.pathname, location.search);
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href, document.baseURI);
    if (url.origin !== location.origin || link.target || link.hasAttribute("download") || link.dataset.out !== undefined) return;
    const path = url.pathname.slice(basePath.length).split("/")[0];
    if (!url.pathname.startsWith(basePath) || (path !== "" && !views.includes(path as ViewName))) return;
    event.preventDefault();
    if (url.pathname + url.search === location.pathname + location.search) return;
    history.pushState(null, "", url.pathname + url.search);
    route.value = parseRoute(url.pathname, url.search);
    window.scrollTo(0, 0);
  });
}
