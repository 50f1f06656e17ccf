// SPDX-License-Identifier: Apache-2.0
// The tools at the right of the head, of the page and of files that work offline: settings, and the map of keys.

import { signal } from "@preact/signals";
import { bindings, useKeys, type KeyBinding } from "../lib/keys.ts";
import { themeChoice, zone, type ThemeChoice } from "../lib/theme.ts";
import { Button, Dialog } from "./basics.tsx";
import { MenuButton, type MenuEntry } from "./Menu.tsx";

const isHelpOpen = signal(false);

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

/** Opens the map of keys, as `?` does. */
export function KeysButton() {
  useKeys([{ keys: "?", group: "Everywhere", what: "Show this map", run: () => (isHelpOpen.value = !isHelpOpen.peek()) }]);
  return (
    <>
      <Button kind="quiet" label="Keys" onClick={() => (isHelpOpen.value = true)}>?</Button>
      {isHelpOpen.value && <KeyMap />}
    </>
  );
}

const themes: { value: ThemeChoice; text: string }[] = [
  { value: "system", text: "As the system" },
  { value: "light", text: "Light" },
  { value: "dark", text: "Dark" },
];

export function SettingsButton({ hasTimes = true }: { hasTimes?: boolean }) {
  const entries = (): MenuEntry[] => [
    { heading: "Theme" },
    ...themes.map((one) => ({ text: one.text, isChecked: themeChoice.value === one.value, run: () => { themeChoice.value = one.value; } })),
    ...(!hasTimes ? [] : [
      "line" as const,
      { heading: "Times are shown" },
      { text: "In the zone of this browser", isChecked: zone.value === "local", run: () => { zone.value = "local"; } },
      { text: "In UTC", isChecked: zone.value === "utc", run: () => { zone.value = "utc"; } },
    ]),
  ];
  return (
    <MenuButton kind="quiet" label="Settings" entries={entries}>
      <span aria-hidden="true">⚙</span>
    </MenuButton>
  );
}

export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><path d="M8 1c1 3 4 4 4 8a4 4 0 0 1-8 0c0-2 1-3 2-4 0 2 1 2 1 2 1-2 0-4 1-6z" fill="currentColor" /></svg>
      <span>hearth</span>
    </span>
  );
}
