// SPDX-License-Identifier: Apache-2.0
// Where one is: the calls from the root to the frame that fills the width, and what was done to the tree, each with a way back.

import { isDiff, nameOf, pathOf } from "../../flame/tree.ts";
import { formatValue } from "../../lib/format.ts";
import { splitPath } from "../../lib/path.ts";
import { MenuButton } from "../Menu.tsx";
import { shortName } from "./FunctionName.tsx";
import type { MenuActions } from "./frameMenu.ts";
import type { Panel } from "./panel.ts";
import { alternativesOf } from "./patterns.ts";
import { pathTo } from "./state.ts";

const N_LAST = 4;

function Chip({ text, title, onOpen, onRemove, what }: { text: string; title?: string; onOpen?: () => void; onRemove: () => void; what: string }) {
  return (
    <span class="chip panel-chip" title={title}>
      {onOpen ? <button type="button" class="clip" onClick={onOpen}>{text}</button> : <span class="clip">{text}</span>}
      <button type="button" aria-label={what} title={what} onClick={onRemove}>✕</button>
    </span>
  );
}

function hiddenText(hide: string): string {
  const n = alternativesOf(hide).length;
  return n > 1 ? `Hidden: ${n} patterns` : `Hidden: ${hide}`;
}

function Crumbs({ panel }: { panel: Panel }) {
  const { tree, zoom } = panel;
  const path = pathOf(tree, zoom);
  const last = path.slice(1).slice(-N_LAST);
  const between = path.slice(1, path.length - last.length);
  const go = (node: number) => panel.change({ zoom: pathTo(tree, node) });
  const crumb = (node: number, isHere: boolean) => (
    <li key={node}>
      <button type="button" class="clip" dir="auto" aria-current={isHere ? "location" : undefined} title={nameOf(tree, node).slice(0, 500)} onClick={() => go(node)}>
        {node === 0 ? "All" : shortName(nameOf(tree, node)).slice(0, 200)}
      </button>
    </li>
  );
  return (
    <nav class="panel-crumbs" aria-label="Zoomed to">
      <ol>
        {crumb(0, zoom === 0)}
        {between.length > 0 && (
          <li>
            <MenuButton kind="quiet" label={`${between.length} calls in between`} entries={() => between.map((node) => ({ text: nameOf(tree, node).slice(0, 200), run: () => go(node) }))}>…</MenuButton>
          </li>
        )}
        {last.map((node) => crumb(node, node === zoom))}
      </ol>
    </nav>
  );
}

/** What the whole comes to: 3.58 h, or of a diff 3.2 h → 3.58 h. */
function totalText({ tree }: Panel): string {
  const [before, after] = tree.totals;
  return isDiff(tree) ? `${formatValue(before, tree.unit)} → ${formatValue(after * tree.factor, tree.unit)}` : formatValue(before, tree.unit);
}

export function Trail({ panel, lit, actions, hasCrumbs }: { panel: Panel; lit: string; actions: MenuActions; hasCrumbs: boolean }) {
  const { state, change } = panel;
  const focus = state.focus && panel.source.focus ? splitPath(state.focus) : [];
  return (
    <div class="panel-trail">
      {hasCrumbs && <Crumbs panel={panel} />}
      {focus.length > 0 && <Chip text={`Focus: ${shortName(focus[focus.length - 1]).slice(0, 200)}`} title={focus.join(" › ")} what="Leave the focus" onRemove={() => change({ focus: "" })} />}
      {state.hide && <Chip text={hiddenText(state.hide)} title={state.hide.slice(0, 1000)} what="Show hidden frames" onOpen={actions.askWhatToHide} onRemove={() => change({ hide: "" })} />}
      {state.collapse && <Chip text="Recursion collapsed" what="Show recursion" onRemove={() => change({ collapse: false })} />}
      {state.group && <Chip text="By library" what="Show functions" onRemove={() => change({ group: false, zoom: "", sel: "", fn: "" })} />}
      {lit && <Chip text={`Function: ${shortName(lit).slice(0, 200)}`} title={lit.slice(0, 500)} what="Choose no function" onRemove={() => change({ fn: "" }, "replace")} />}
      {hasCrumbs && <span class="panel-total muted" title="What all of it comes to">{totalText(panel)}</span>}
    </div>
  );
}
