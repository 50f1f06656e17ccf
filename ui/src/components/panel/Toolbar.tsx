// SPDX-License-Identifier: Apache-2.0
// What is shown and how: the views, the search, colours, exports.

import type { Ref } from "preact";
import { isDiff } from "../../flame/tree.ts";
import type { Colouring, FlameView, Searched } from "../../flame/view.ts";
import { formatCount, formatShare, formatValue } from "../../lib/format.ts";
import { Button, Segmented } from "../basics.tsx";
import { MenuButton, type MenuEntry } from "../Menu.tsx";
import { exportEntries } from "./exports.ts";
import { viewEntries, type MenuActions } from "./frameMenu.ts";
import type { Panel } from "./panel.ts";
import type { Show } from "./state.ts";

export const showTitles: Record<Show, string> = {
  both: "Both", flame: "Flame", table: "Table", tree: "Call tree", sandwich: "Sandwich", lines: "Lines", hints: "Hints",
};

const colourTitles: Record<Colouring, string> = { package: "Package", module: "Module", kind: "Kind", heat: "Heat", diff: "Change" };

function colourEntries(panel: Panel): MenuEntry[] {
  const choices: Colouring[] = ["package", "module", "kind", "heat"];
  const fallback: Colouring = isDiff(panel.tree) ? "diff" : "package";
  if (isDiff(panel.tree)) choices.unshift("diff");
  const now = panel.state.colour || fallback;
  return [
    { heading: "Colour by" },
    ...choices.map((choice) => ({
      text: colourTitles[choice], isChecked: choice === now, run: () => panel.change({ colour: choice === fallback ? "" : choice }, "replace"),
    })),
  ];
}

function lookEntries(panel: Panel, actions: MenuActions): MenuEntry[] {
  const isFlame = panel.state.dir === "flame";
  return [
    ...colourEntries(panel),
    "line",
    { text: "Root at the bottom", isChecked: isFlame, hint: "i", run: () => panel.change({ dir: isFlame ? "icicle" : "flame" }, "replace") },
    "line",
    ...viewEntries(panel, actions),
    "line",
    { text: "Links to source code…", run: actions.askForTemplate },
  ];
}

/** "12.3 % found (1.2 s)", or what is wrong with the search. */
function found(panel: Panel, searched: Searched | null, problem: string | null): string {
  if (problem !== null) return problem;
  if (!searched) return "";
  if (searched.nHits === 0) return "Nothing found";
  return `${formatShare(searched.share)} (${formatValue(searched.value, panel.tree.unit)}) in ${formatCount(searched.nHits)} ${searched.nHits === 1 ? "frame" : "frames"}`;
}

export function Toolbar({ panel, shows, show, isNarrow, view, searched, problem, searchRef, actions, onNext }: {
  panel: Panel;
  shows: readonly Show[];
  show: Show;
  isNarrow: boolean;
  view: FlameView | null;
  searched: Searched | null;
  problem: string | null;
  searchRef: Ref<HTMLInputElement>;
  actions: MenuActions;
  onNext: (direction: 1 | -1) => void;
}) {
  const { search } = panel.state;
  return (
    <div class="panel-bar-top" role="toolbar" aria-label="Profile">
      {isNarrow ? (
        <MenuButton label={`Show: ${showTitles[show]}`} entries={() => shows.map((one) => ({ text: showTitles[one], isChecked: one === show, run: () => panel.change({ show: one }) }))}>
          {showTitles[show]} ▾
        </MenuButton>
      ) : (
        <Segmented label="Show" value={show} choices={shows.map((one) => ({ value: one, text: showTitles[one] }))} onChange={(value) => panel.change({ show: value })} />
      )}
      <div class="panel-search" role="search">
        <input
          ref={searchRef}
          class="field"
          type="search"
          placeholder="Search functions"
          aria-label="Search functions by name or regular expression"
          aria-invalid={problem !== null}
          value={search}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => panel.change({ search: event.currentTarget.value }, "replace")}
          onKeyDown={(event) => {
            if (event.key === "Enter") onNext(event.shiftKey ? -1 : 1);
            else if (event.key === "Escape") panel.change({ search: "" }, "replace");
            else return;
            event.preventDefault();
          }}
        />
        {search && problem === null && (
          <>
            <Button kind="quiet" label="Previous frame found" onClick={() => onNext(-1)}>↑</Button>
            <Button kind="quiet" label="Next frame found" onClick={() => onNext(1)}>↓</Button>
          </>
        )}
        <span class={problem === null ? "panel-found muted" : "panel-found panel-problem"} role="status">{found(panel, searched, problem)}</span>
      </div>
      <div class="row">
        <MenuButton label="View: how it is shown" entries={() => lookEntries(panel, actions)}>View ▾</MenuButton>
        <MenuButton label="Export" entries={() => exportEntries(panel, view)}>Export ▾</MenuButton>
      </div>
    </div>
  );
}
