// SPDX-License-Identifier: Apache-2.0
// A profile in all the ways to look at it: flame graph, table, call tree, sandwich, lines and hints. Explore, Compare, Ad hoc
// and the files that work offline all show this panel.

import { useMemo, useRef, useState } from "preact/hooks";
import { Search } from "../../flame/search.ts";
import type { FlameTree } from "../../flame/tree.ts";
import type { FlameView, Searched } from "../../flame/view.ts";
import { Empty, Failure, Loading, useSize } from "../basics.tsx";
import { Menu } from "../Menu.tsx";
import { CallTree } from "./CallTree.tsx";
import { HideDialog, SourceDialog } from "./dialogs.tsx";
import { frameEntries, type MenuActions } from "./frameMenu.ts";
import { FunctionTable } from "./FunctionTable.tsx";
import { Hints } from "./Hints.tsx";
import { Lines } from "./Lines.tsx";
import { MainFlame } from "./MainFlame.tsx";
import type { Panel } from "./panel.ts";
import { Sandwich } from "./Sandwich.tsx";
import type { ProfileSource } from "./source.ts";
import { pathTo, shows, type Show } from "./state.ts";
import { newPointed, Tooltip } from "./Tooltip.tsx";
import { Toolbar } from "./Toolbar.tsx";
import { Trail } from "./Trail.tsx";
import { usePanel } from "./usePanel.ts";
import { usePanelKeys } from "./usePanelKeys.ts";
import "./panel.css";

export type { ExportFormat, LineRow, ProfileSource } from "./source.ts";

export interface ProfilePanelProps {
  /** What to show. Another tree (live mode, other times) keeps zoom and selection as far as their paths still exist. */
  tree: FlameTree;
  source: ProfileSource;
  /** Of the whole, as CSS has it; otherwise most of the height of the screen. */
  height?: string;
}

const NARROW = 640;
const WIDE = 1000;

/** The views at hand: side by side where there is room, one at a time where there is not. */
function useShow(wanted: Show, width: number, source: ProfileSource): { show: Show; offered: readonly Show[]; isNarrow: boolean } {
  const isNarrow = width > 0 && width < NARROW;
  const offered = shows.filter((one) => (one !== "both" || !isNarrow) && (one !== "lines" || source.lines !== undefined));
  const show = offered.includes(wanted) ? wanted : "flame";
  return { show, offered, isNarrow };
}

function Parts({ panel, show, isNarrow, onView, onSearched }: {
  panel: Panel;
  show: Show;
  isNarrow: boolean;
  onView: (view: FlameView | null) => void;
  onSearched: (result: Searched | null) => void;
}) {
  switch (show) {
    case "table": return <FunctionTable panel={panel} room={isNarrow ? "little" : "much"} />;
    case "tree": return <CallTree panel={panel} />;
    case "sandwich": return <Sandwich panel={panel} />;
    case "lines": return <Lines panel={panel} />;
    case "hints": return <Hints panel={panel} />;
    default: return (
      <>
        {show === "both" && <FunctionTable panel={panel} room="some" />}
        <MainFlame panel={panel} onView={onView} onSearched={onSearched} />
      </>
    );
  }
}

type Question = "source" | "hide" | null;

export function ProfilePanel({ tree, source, height }: ProfilePanelProps) {
  const [root, size] = useSize<HTMLElement>();
  const searchRef = useRef<HTMLInputElement>(null);
  const [view, setView] = useState<FlameView | null>(null);
  const [searched, setSearched] = useState<Searched | null>(null);
  const [question, setQuestion] = useState<Question>(null);
  const [menu, setMenu] = useState<{ tree: FlameTree; node: number; x: number; y: number } | null>(null);
  const pointed = useMemo(newPointed, []);
  const actions: MenuActions = { askForTemplate: () => setQuestion("source"), askWhatToHide: () => setQuestion("hide") };

  const { panel, problem, focus } = usePanel(tree, source, {
    menu: (of, node, x, y) => {
      pointed.value = null;
      setMenu({ tree: of, node: Math.max(0, node), x, y });
    },
    point: (of, node, x, y) => {
      pointed.value = node < 0 ? null : { tree: of, node, x, y };
    },
  });
  const { show, offered, isNarrow } = useShow(panel.state.show, size.width, source);
  const hasFlame = show === "both" || show === "flame";
  const search = useMemo(() => (panel.pattern ? new Search(panel.tree, panel.pattern) : null), [panel.tree, panel.pattern]);
  const next = (direction: 1 | -1) => {
    const found = search?.next(panel.selected, direction) ?? -1;
    if (found >= 0) panel.change({ sel: pathTo(panel.tree, found), fn: "" }, "replace");
  };
  usePanelKeys(panel, offered, () => searchRef.current, next);

  const counted = hasFlame ? searched : search && { ...search.share(0, panel.tree.width[0]), nHits: search.nHits };
  const lit = hasFlame ? panel.state.fn : "";
  const isEmpty = panel.tree.n <= 1 && panel.tree.width[0] === 0;
  return (
    <section
      class={`card panel ${size.width >= WIDE ? "wide" : ""} ${isNarrow ? "narrow" : ""}`}
      ref={root} aria-label={`Profile: ${source.title}`} style={height ? { height } : undefined}
    >
      <Toolbar
        panel={panel} shows={offered} show={show} isNarrow={isNarrow} view={view} searched={panel.pattern ? counted : null} problem={problem}
        searchRef={searchRef} actions={actions} onNext={next}
      />
      <Trail panel={panel} lit={lit} actions={actions} hasCrumbs={hasFlame} />
      {focus.error !== undefined && <Failure error={focus.error} retry={focus.retry} />}
      {focus.isLoading && (focus.isStale || !focus.value) && <Loading what="Asking the server for this part" />}
      <div class={`panel-body show-${show}`}>
        {isEmpty ? (
          <Empty title="The profile is empty"><p>It came without a single value. Choose a longer time, other labels, or another type.</p></Empty>
        ) : (
          <Parts panel={panel} show={show} isNarrow={isNarrow} onView={setView} onSearched={setSearched} />
        )}
      </div>
      <Tooltip pointed={pointed} />
      {menu && <Menu label="Frame" entries={frameEntries(panel, menu.tree, menu.node, actions)} x={menu.x} y={menu.y} onClose={() => setMenu(null)} />}
      {question === "source" && <SourceDialog onClose={() => setQuestion(null)} />}
      {question === "hide" && <HideDialog panel={panel} onClose={() => setQuestion(null)} />}
    </section>
  );
}
