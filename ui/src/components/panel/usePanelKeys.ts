// SPDX-License-Identifier: Apache-2.0
// Keys of the panel, beside those of the graph and the tables themselves.

import { useKeys } from "../../lib/keys.ts";
import type { Panel } from "./panel.ts";
import type { Show } from "./state.ts";
import { showTitles } from "./Toolbar.tsx";

const group = "Profile";

export function usePanelKeys(panel: Panel, offered: readonly Show[], searchField: () => HTMLInputElement | null, next: (direction: 1 | -1) => void): void {
  const { state, change } = panel;
  useKeys([
    { keys: "/", group, what: "Search functions", run: () => { searchField()?.focus(); searchField()?.select(); } },
    { keys: "n", group, what: "Next frame found", run: () => next(1) },
    { keys: "N", group, what: "Previous frame found", run: () => next(-1) },
    { keys: "z", group, what: "Show everything again", run: () => change({ zoom: "", sel: "", fn: "" }) },
    { keys: "i", group, what: "Turn the graph upside down", run: () => change({ dir: state.dir === "flame" ? "icicle" : "flame" }, "replace") },
    { keys: "c", group, what: "Collapse recursion", run: () => change({ collapse: !state.collapse }) },
    { keys: "b", group, what: "Group by library", run: () => change({ group: !state.group, zoom: "", sel: "", fn: "" }) },
    ...offered.map((show, index) => ({ keys: String(index + 1), group, what: `Show: ${showTitles[show]}`, run: () => change({ show }) })),
    { keys: "Arrows", group: "Flame graph", what: "Walk from frame to frame" },
    { keys: "Enter", group: "Flame graph", what: "Zoom to the selected frame" },
    { keys: "Escape", group: "Flame graph", what: "Show everything" },
    { keys: "+", group: "Flame graph", what: "Zoom in, − zooms out" },
    { keys: "Shift+F10", group: "Flame graph", what: "The menu of the selected frame" },
  ]);
}
