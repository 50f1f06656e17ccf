// SPDX-License-Identifier: Apache-2.0
// What is around every view: the way to the others, the theme, sharing, and the map of keys.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { bindings, useKeys, type KeyBinding } from "../lib/keys.ts";
import { navigate, route, urlOf, type ViewName } from "../lib/route.ts";
import { themeChoice, zone, type ThemeChoice } from "../lib/theme.ts";
import { Button, copyText, Dialog } from "./basics.tsx";
import { MenuButton } from "./Menu.tsx";
import { Toasts } from "./Toast.tsx";
import "./Shell.css";

const views: { name: ViewName; title: string; key: string }[] = [
  { name: "fleet", title: "Fleet", key: "f" },
  { name: "explore", title: "Explore", key: "e" },
  { name: "compare", title: "Compare", key: "c" },
  { name: "adhoc", title: "Ad hoc", key: "a" },
  { name: "status", title: "Status", key: "s" },
];

const isHelpOpen = signal(false);

/** What the address of another view should take along: the query and the times. */
function carried(to: ViewName): Record<string, string> {
  const { view, params } = route.value;
  if (view === to || (to !== "explore" && to !== "compare") || (view !== "explore" && view !== "compare")) return {};
  const taken: Record<string, string> = {};
  for (const name of ["query", "from", "until"]) {
    const value = params.get(name);
    if (value) taken[name] = value;
  }
  return taken;
}

function KeyMap() {
  const groups = new Map<string, KeyBinding[]>();
  for (const binding of bindings.value) {
    const list = groups.get(binding.group) ?? [];
    if (!list.some((one) => one.keys === binding.keys)) groups.set(binding.group, [...list, binding]);
  }
  return (
    <Dialog title="Keys" onClose={() => (isHelpOpen.value = false)} isWide>
      <div class="key-map">
        {[...groups].map(([group, list]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {list.map((binding) => (
                <div key={binding.keys}>
                  <dt>{binding.keys.split(" ").map((key) => <kbd key={key}>{key}</kbd>)}</dt>
                  <dd>{binding.what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const themes: { value: ThemeChoice; text: string }[] = [
  { value: "system", text: "As the system" },
  { value: "light", text: "Light" },
  { value: "dark", text: "Dark" },
];

export function Shell({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const { view } = route.value;
  const title = views.find((one) => one.name === view)!.title;

  useKeys([
    ...views.map((one) => ({
      keys: `g ${one.key}`, group: "Everywhere", what: `Go to ${one.title}`, run: () => navigate({ view: one.name, params: carried(one.name) }),
    })),
    { keys: "?", group: "Everywhere", what: "Show this map", run: () => (isHelpOpen.value = !isHelpOpen.peek()) },
    { keys: "y", group: "Everywhere", what: "Copy the link to this view", run: () => void copyText(location.href, "The link is") },
  ]);
  useEffect(() => {
    document.title = view === "fleet" ? "hearth" : `${title} · hearth`;
  }, [view]);

  return (
    <>
      <a class="skip" href="#main" data-out="" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="shell-head">
        <a class="brand" href={urlOf("fleet")}>
          <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><path d="M8 1c1 3 4 4 4 8a4 4 0 0 1-8 0c0-2 1-3 2-4 0 2 1 2 1 2 1-2 0-4 1-6z" fill="currentColor" /></svg>
          <span>hearth</span>
        </a>
        <nav aria-label="Views">
          {views.map((one) => (
            <a key={one.name} href={urlOf(one.name, carried(one.name))} aria-current={one.name === view ? "page" : undefined}>{one.title}</a>
          ))}
        </nav>
        <div class="shell-tools">
          <Button kind="quiet" label="Copy the link to this view" onClick={() => void copyText(location.href, "The link is")}>Share</Button>
          <MenuButton
            kind="quiet"
            label="Settings"
            entries={() => [
              { heading: "Theme" },
              ...themes.map((one) => ({ text: one.text, isChecked: themeChoice.value === one.value, run: () => { themeChoice.value = one.value; } })),
              "line",
              { heading: "Times are shown" },
              { text: "In the zone of this browser", isChecked: zone.value === "local", run: () => { zone.value = "local"; } },
              { text: "In UTC", isChecked: zone.value === "utc", run: () => { zone.value = "utc"; } },
            ]}
          >
            <span aria-hidden="true">⚙</span>
          </MenuButton>
          <Button kind="quiet" label="Keys" onClick={() => (isHelpOpen.value = true)}>?</Button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>{children}</main>
      {isHelpOpen.value && <KeyMap />}
      <Toasts />
    </>
  );
}
