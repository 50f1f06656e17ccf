// SPDX-License-Identifier: Apache-2.0
// The table of functions: what each costs, or how it changed.

import { useMemo } from "preact/hooks";
import { sortRows, type FunctionRow, type SortKey } from "../../flame/aggregate.ts";
import { isDiff } from "../../flame/tree.ts";
import { capitalised, formatDelta, formatShare } from "../../lib/format.ts";
import { VirtualTable, type Column, type Sort } from "../VirtualTable.tsx";
import { amount, changeText, isNoise, relativeErrorText } from "./facts.ts";
import { FunctionName } from "./FunctionName.tsx";
import type { Panel } from "./panel.ts";
import { parseSort, sortText } from "./state.ts";

const plainSort: Sort = { id: "self", isDescending: true };
const keys: readonly string[] = ["name", "self", "total", "before", "after", "change", "relative"];

/** How the table is sorted, and its rows: those that are searched for, in order. */
export function tableRows(panel: Panel): { sort: Sort; rows: FunctionRow[] } {
  const sort = parseSort(panel.state.sort, plainSort);
  const known = keys.includes(sort.id) ? sort : plainSort;
  const { pattern } = panel;
  const found = pattern ? panel.rows().filter((row) => pattern.test(row.text.slice(0, 256))) : panel.rows();
  return { sort: known, rows: sortRows(panel.tree, found, known.id as SortKey, known.isDescending) };
}

function Bar({ share, text }: { share: number; text: string }) {
  return (
    <span class="panel-bar">
      <span class="panel-bar-fill" aria-hidden="true" style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
      <span>{text}</span>
    </span>
  );
}

/** How much room there is for columns. */
export type Room = "much" | "some" | "little";

function nameColumn(panel: Panel): Column<FunctionRow> {
  return {
    id: "name", title: panel.state.group ? "Library" : "Function", isSortable: true, width: "minmax(8em, 1fr)",
    cell: (row) => (row.isOther ? <span class="muted" title="Small frames that the server put together">{row.text}</span> : <FunctionName name={row.text} />),
  };
}

function plainColumns(panel: Panel, room: Room): Column<FunctionRow>[] {
  const { tree } = panel;
  const total = tree.totals[0];
  const value = (of: (row: FunctionRow) => number) => (row: FunctionRow) => amount(tree, of(row));
  const part = (of: (row: FunctionRow) => number) => (row: FunctionRow) => <Bar share={of(row) / total} text={formatShare(of(row) / total)} />;
  const selfShare = { title: "Self %", isNumber: true, width: "5em", cell: part((row) => row.self) };
  const columns: Column<FunctionRow>[] = [
    nameColumn(panel),
    { id: "self", title: "Self", hint: "Its own, without what it calls", isNumber: true, isSortable: true, width: "5.5em", cell: value((row) => row.self) },
    { ...selfShare, id: "selfShare" },
    { id: "total", title: "Total", hint: "With what it calls; a function that calls itself counts once", isNumber: true, isSortable: true, width: "5.5em", cell: value((row) => row.total) },
    { id: "totalShare", title: "Total %", isNumber: true, width: "5em", cell: part((row) => row.total) },
  ];
  if (tree.samples[0] !== null) {
    columns.push({ id: "error", title: "± self", hint: "The standard error of sampling, in relation to self", isNumber: true, width: "5em", cell: (row) => relativeErrorText(tree, row.self) });
  }
  if (room === "some") return columns.slice(0, 4);
  return room === "little" ? [columns[0], { ...selfShare, id: "self", isSortable: true }, columns[3]] : columns;
}

function diffColumns(panel: Panel, room: Room): Column<FunctionRow>[] {
  const { tree } = panel;
  const changed = (before: number, after: number, text: string) => {
    const noise = isNoise(tree, before, after);
    const tone = noise || before === after ? "muted" : after > before ? "more" : "less";
    return <span class={tone} title={noise ? "Chance alone may do this." : undefined}>{noise && text ? `(${text})` : text}</span>;
  };
  const columns: Column<FunctionRow>[] = [
    nameColumn(panel),
    { id: "self", title: "Self change", hint: "Of its own, without what it calls; in brackets what chance alone may do", isNumber: true, isSortable: true, width: "8em",
      cell: (row) => changed(row.self, row.selfAfter, formatDelta(row.selfAfter - row.self, tree.unit)) },
    { id: "before", title: capitalised(tree.sides[0]), hint: `Total ${tree.sides[0]}`, isNumber: true, isSortable: true, width: "5.5em", cell: (row) => amount(tree, row.total) },
    { id: "after", title: capitalised(tree.sides[1]), hint: `Total ${tree.sides[1]}`, isNumber: true, isSortable: true, width: "5.5em", cell: (row) => amount(tree, row.totalAfter) },
    { id: "change", title: "Change", hint: "Of the total; in brackets what chance alone may do", isNumber: true, isSortable: true, width: "6em",
      cell: (row) => changed(row.total, row.totalAfter, formatDelta(row.totalAfter - row.total, tree.unit)) },
    { id: "relative", title: "Change %", isNumber: true, isSortable: true, width: "6em", cell: (row) => changed(row.total, row.totalAfter, changeText(row.total, row.totalAfter)) },
  ];
  return room === "much" ? columns : columns.filter((column) => ["name", "self", "change"].includes(column.id));
}

export function FunctionTable({ panel, room }: { panel: Panel; room: Room }) {
  const { tree, state, pattern, chosen } = panel;
  const { sort, rows } = useMemo(() => tableRows(panel), [tree, pattern, state.sort]);
  const columns = useMemo(() => (isDiff(tree) ? diffColumns : plainColumns)(panel, room), [tree, room, state.group]);
  const nAll = panel.rows().length;
  const counted = `${nAll} ${state.group ? (nAll === 1 ? "library" : "libraries") : nAll === 1 ? "function" : "functions"}`;
  return (
    <div class="panel-table">
      <VirtualTable
        label="Functions"
        columns={columns}
        rows={rows}
        keyOf={(row) => row.text}
        sort={sort}
        onSort={(next) => panel.change({ sort: sortText(next) }, "replace")}
        selected={chosen || null}
        onSelect={(row) => !row.isOther && row.text !== chosen && panel.change({ fn: row.text, sel: "" }, "replace")}
        onOpen={(row) => !row.isOther && panel.change({ fn: row.text, show: "sandwich" })}
        onMenu={(row, x, y) => panel.menu(tree, row.widest, x, y)}
      />
      {rows.length === 0 && <p class="panel-note">{pattern ? "No function matches the search." : "There are no functions in this profile."}</p>}
      <p class="panel-foot muted">{rows.length === nAll ? counted : `${rows.length} of ${counted}`}</p>
    </div>
  );
}
