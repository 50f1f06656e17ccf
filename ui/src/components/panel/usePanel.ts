// SPDX-License-Identifier: Apache-2.0
// From the tree that came and the URL to what the parts of the panel need.

import { useMemo, useRef } from "preact/hooks";
import { functionRows, type FunctionRow } from "../../flame/aggregate.ts";
import { parsePattern } from "../../flame/search.ts";
import { belowPath, collapseRecursion, groupByLibrary, hideFrames } from "../../flame/transform.ts";
import { nameOf, type FlameTree } from "../../flame/tree.ts";
import { splitPath } from "../../lib/path.ts";
import { useResource, type Resource } from "../../lib/resource.ts";
import type { Panel } from "./panel.ts";
import { hidingOf } from "./patterns.ts";
import type { ProfileSource } from "./source.ts";
import { changeState, readState, resolvePath } from "./state.ts";

/** Rows of the table of functions, computed once for each tree when somebody asks. */
function useRows(tree: FlameTree): () => readonly FunctionRow[] {
  const kept = useRef<{ tree: FlameTree; rows: FunctionRow[] } | null>(null);
  return () => {
    if (kept.current?.tree !== tree) kept.current = { tree, rows: functionRows(tree) };
    return kept.current!.rows;
  };
}

export function usePanel(tree: FlameTree, source: ProfileSource, events: Pick<Panel, "menu" | "point">) {
  const state = readState();
  const isFocused = state.focus !== "" && source.focus !== undefined;
  const focus: Resource<FlameTree> = useResource(isFocused ? state.focus : null, (signal) => source.focus!(splitPath(state.focus), signal), tree);
  const focused = isFocused && !focus.isStale ? focus.value : undefined;
  const base = useMemo(() => (focused ? belowPath(focused, splitPath(state.focus), tree) : tree), [focused, tree]);

  const unhidden = useMemo(() => {
    const hiding = hidingOf(state.hide);
    return hiding ? hideFrames(base, hiding.isHidden) : base;
  }, [base, state.hide]);
  const collapsed = useMemo(() => (state.collapse ? collapseRecursion(unhidden) : unhidden), [unhidden, state.collapse]);
  const shown = useMemo(() => (state.group ? groupByLibrary(collapsed) : collapsed), [collapsed, state.group]);

  const parsed = useMemo(() => (state.search === "" ? null : parsePattern(state.search)), [state.search]);
  const zoom = useMemo(() => Math.max(0, resolvePath(shown, state.zoom)), [shown, state.zoom]);
  const selected = useMemo(() => resolvePath(shown, state.sel), [shown, state.sel]);
  const rows = useRows(shown);
  const panel: Panel = {
    base, tree: shown, source, state, zoom, selected, rows, change: changeState,
    pattern: parsed && "pattern" in parsed ? parsed.pattern : null,
    chosen: state.fn || (selected > 0 ? nameOf(shown, selected) : ""),
    ...events,
  };
  return { panel, problem: parsed && "problem" in parsed ? parsed.problem : null, focus };
}
