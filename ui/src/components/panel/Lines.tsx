// SPDX-License-Identifier: Apache-2.0
// What each line of a function costs.

import { useMemo } from "preact/hooks";
import { useResource } from "../../lib/resource.ts";
import { formatShare } from "../../lib/format.ts";
import { sourceTemplate } from "../../lib/theme.ts";
import { Empty, Failure, Loading } from "../basics.tsx";
import { VirtualTable, type Column } from "../VirtualTable.tsx";
import { amount } from "./facts.ts";
import { FunctionPicker, functionToShow } from "./FunctionPicker.tsx";
import { sourceLink } from "./links.ts";
import type { Panel } from "./panel.ts";
import type { LineRow } from "./source.ts";

function columnsOf(panel: Panel, name: string, template: string): Column<LineRow>[] {
  const { tree } = panel;
  const index = tree.names.indexOf(name);
  const module = index < 0 ? "" : (tree.texts[tree.modules[index]] ?? "");
  const total = tree.totals[0];
  const place = (row: LineRow) => (row.file ? `${row.file}${row.line ? `:${row.line}` : ""}` : row.line ? `line ${row.line}` : "unknown line");
  return [
    {
      id: "place", title: "Line", width: "minmax(10em, 1fr)",
      cell: (row) => {
        const link = row.file ? sourceLink(template, { file: row.file, line: row.line, module, function: name }) : null;
        return link ? <a href={link} target="_blank" rel="noreferrer" class="mono">{place(row)}</a> : <span class="mono">{place(row)}</span>;
      },
    },
    { id: "self", title: "Self", isNumber: true, width: "6em", cell: (row) => amount(tree, row.self) },
    { id: "selfShare", title: "Self %", isNumber: true, width: "5em", cell: (row) => formatShare(row.self / total) },
    { id: "total", title: "Total", isNumber: true, width: "6em", cell: (row) => amount(tree, row.total) },
    { id: "totalShare", title: "Total %", isNumber: true, width: "5em", cell: (row) => formatShare(row.total / total) },
  ];
}

function LineTable({ panel, name, rows }: { panel: Panel; name: string; rows: LineRow[] }) {
  const template = sourceTemplate.value;
  const columns = useMemo(() => columnsOf(panel, name, template), [panel.tree, name, template]);
  const sorted = useMemo(() => [...rows].sort((a, b) => b.self - a.self || b.total - a.total || a.line - b.line), [rows]);
  if (!rows.some((row) => row.line > 0)) {
    return (
      <Empty title="No lines are known">
        <p>The profiles came without line numbers for {name.slice(0, 300)}, or its program was built without debug information.</p>
      </Empty>
    );
  }
  return <VirtualTable label={`Lines of ${name.slice(0, 100)}`} columns={columns} rows={sorted} keyOf={(row) => `${row.file}:${row.line}`} />;
}

export function Lines({ panel }: { panel: Panel }) {
  const name = functionToShow(panel);
  const { lines } = panel.source;
  const answer = useResource<LineRow[]>(lines && name ? name : null, (signal) => lines!(name, signal), panel.base);
  return (
    <div class="panel-lines">
      <div class="panel-head"><FunctionPicker panel={panel} name={name} /></div>
      {answer.error !== undefined && <Failure error={answer.error} retry={answer.retry} />}
      {answer.isLoading && (answer.isStale || !answer.value) && <Loading what="Asking for lines" />}
      {!answer.isStale && answer.value && <LineTable panel={panel} name={name} rows={answer.value} />}
    </div>
  );
}
