// SPDX-License-Identifier: Apache-2.0
// The menu of a frame: everything that can be done with it.

import { isOther } from "../../flame/structure.ts";
import { findPath, nameOf, type FlameTree } from "../../flame/tree.ts";
import { joinPath } from "../../lib/path.ts";
import { sourceTemplate } from "../../lib/theme.ts";
import { copyText } from "../basics.tsx";
import type { MenuEntry } from "../Menu.tsx";
import { partEntries } from "./exports.ts";
import { sourceLink } from "./links.ts";
import type { Panel } from "./panel.ts";
import { exactly, withAlternative } from "./patterns.ts";
import { namesTo, pathTo } from "./state.ts";

export interface MenuActions {
  askForTemplate: () => void;
  askWhatToHide: () => void;
}

/** The path of a frame as the server knows it, or null where the tree that is shown differs from the server's there. */
function serverPath(panel: Panel, tree: FlameTree, node: number): string[] | null {
  if (tree !== panel.tree || panel.state.group) return null;
  const names = namesTo(tree, node);
  return findPath(panel.base, ["", ...names]) >= 0 ? names : null;
}

function lookEntries(panel: Panel, tree: FlameTree, node: number): MenuEntry[] {
  const name = nameOf(tree, node);
  const path = serverPath(panel, tree, node);
  const entries: MenuEntry[] = [];
  if (tree === panel.tree) {
    entries.push({ text: "Zoom to it", run: () => panel.change({ zoom: pathTo(tree, node), show: panel.state.show === "both" ? "both" : "flame" }) });
    if (panel.source.focus) {
      entries.push({
        text: "Focus", hint: "asks the server", isOff: path === null || path.length === 0,
        run: () => panel.change({ focus: joinPath(path ?? []), zoom: pathTo(tree, node), sel: pathTo(tree, node), fn: "" }),
      });
    }
  }
  entries.push({ text: "Callers and callees", run: () => panel.change({ show: "sandwich", fn: name }) });
  if (panel.source.lines) entries.push({ text: "Lines", run: () => panel.change({ show: "lines", fn: name }) });
  return entries;
}

function copyEntries(panel: Panel, tree: FlameTree, node: number): MenuEntry[] {
  const stack = namesTo(tree, node);
  if (tree.isInverted) stack.reverse();
  return [
    { text: "Copy the name", run: () => void copyText(nameOf(tree, node), "The name is") },
    { text: "Copy the stack", isOff: tree !== panel.tree, run: () => void copyText(stack.join("\n"), "The stack is") },
  ];
}

function sourceEntries(tree: FlameTree, node: number, actions: MenuActions): MenuEntry[] {
  const name = tree.name[node];
  const file = tree.texts[tree.files[name]] ?? "";
  const place = { file, line: tree.lines[name], module: tree.texts[tree.modules[name]] ?? "", function: tree.names[name] };
  const needsFile = sourceTemplate.value.includes("{file}") && !file;
  const href = needsFile ? null : sourceLink(sourceTemplate.value, place);
  if (href) return [{ text: "Open the source", hint: file ? `${file}:${place.line}` : "", run: () => void open(href, "_blank", "noreferrer") }];
  if (sourceTemplate.value) return [{ text: "Open the source", hint: "its file is unknown", isOff: true }];
  return [{ text: "Open the source…", hint: "set where it is", run: actions.askForTemplate }];
}

function sideEntries(panel: Panel, tree: FlameTree, node: number): MenuEntry[] {
  const path = serverPath(panel, tree, node);
  const { sides } = panel.source;
  if (!sides || !path) return [];
  return ["line", { text: `Open ${tree.sides[0]}`, href: sides.before(path) }, { text: `Open ${tree.sides[1]}`, href: sides.after(path) }];
}

export function frameEntries(panel: Panel, tree: FlameTree, node: number, actions: MenuActions): MenuEntry[] {
  const { state, source } = panel;
  const name = nameOf(tree, node);
  if (node === 0 && tree === panel.tree) return viewEntries(panel, actions);
  const isFunction = !isOther(tree, node);
  return [
    { heading: name.slice(0, 200) },
    ...lookEntries(panel, tree, node),
    "line",
    { text: "Hide this function", isOff: state.group || !isFunction, run: () => panel.change({ hide: withAlternative(state.hide, exactly(name)), zoom: "", sel: "", fn: "" }) },
    ...viewEntries(panel, actions),
    "line",
    ...copyEntries(panel, tree, node),
    ...(isFunction && !state.group ? sourceEntries(tree, node, actions) : []),
    ...(source.filterBy && isFunction && !state.group ? [{ text: "Filter the query by it", run: () => source.filterBy!(name) }] : []),
    ...(source.tracesUrl && isFunction && !state.group ? [{ text: "Slowest traces through here", href: source.tracesUrl(name) }] : []),
    ...sideEntries(panel, tree, node),
    ...(tree === panel.tree ? ["line" as const, ...partEntries(panel, node, serverPath(panel, tree, node))] : []),
  ];
}

/** What holds for the whole graph. */
export function viewEntries(panel: Panel, actions: MenuActions): MenuEntry[] {
  const { state } = panel;
  return [
    { text: "Hide by pattern…", run: actions.askWhatToHide },
    { text: "Collapse recursion", isChecked: state.collapse, run: () => panel.change({ collapse: !state.collapse }) },
    { text: "Group by library", isChecked: state.group, run: () => panel.change({ group: !state.group, zoom: "", sel: "", fn: "" }) },
  ];
}
