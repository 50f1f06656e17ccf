// SPDX-License-Identifier: Apache-2.0
// Taking what is shown away: as a picture, a table, or a file from the server.

import { csvOf, functionRows, sortRows } from "../../flame/aggregate.ts";
import { foldedOf } from "../../flame/folded.ts";
import { treeBelow } from "../../flame/transform.ts";
import { nameOf } from "../../flame/tree.ts";
import type { FlameView } from "../../flame/view.ts";
import { copyText } from "../basics.tsx";
import type { MenuEntry } from "../Menu.tsx";
import { toast } from "../Toast.tsx";
import { tableRows } from "./FunctionTable.tsx";
import type { Panel } from "./panel.ts";
import type { ExportFormat } from "./source.ts";
import { namesTo } from "./state.ts";

/** A name for a file that every system takes. */
function fileName(title: string, ending: string): string {
  const stem = title.normalize("NFKD").replace(/[^\w.-]+/g, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80) || "profile";
  return `${stem}.${ending}`;
}

function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.dataset.out = "";
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function downloadPicture(view: FlameView, title: string): Promise<void> {
  try {
    download(await view.toPNG(), fileName(title, "png"));
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
  }
}

const formats: { format: ExportFormat; text: string; ending: string }[] = [
  { format: "pprof", text: "pprof", ending: "pb.gz" },
  { format: "folded", text: "Folded stacks", ending: "folded" },
  { format: "otlp", text: "OTLP", ending: "otlp" },
  { format: "html", text: "HTML that works offline", ending: "html" },
];

/** Files that the server makes, of all or of what is below a path; folded stacks are made here where it does not. */
function fileEntries(panel: Panel, path: string[] | undefined, folded: () => string): MenuEntry[] {
  const { exportUrl, title } = panel.source;
  return formats.flatMap(({ format, text, ending }): MenuEntry[] => {
    const href = exportUrl?.(format, path);
    const name = fileName(path ? `${title}-${path.at(-1)}` : title, ending);
    if (href) return [{ text, href, download: name }];
    return format === "folded" ? [{ text, run: () => download(new Blob([folded()], { type: "text/plain" }), name) }] : [];
  });
}

/** Files of a frame of the tree that is shown and all below it. `path` is its path on the server, if it is known there. */
export function partEntries(panel: Panel, node: number, path: string[] | null): MenuEntry[] {
  const { tree, source } = panel;
  const names = namesTo(tree, node);
  const part = () => treeBelow(tree, [node]);
  const csv = () => {
    const below = part();
    return csvOf(below, sortRows(below, functionRows(below), "total", true));
  };
  return [
    { heading: "Export this part" },
    ...fileEntries(panel, path ?? names, () => foldedOf(part(), names)).filter((entry) => path !== null || (entry !== "line" && "run" in entry)),
    { text: "CSV of its functions", run: () => download(new Blob([csv()], { type: "text/csv" }), fileName(`${source.title}-${nameOf(tree, node)}`, "csv")) },
  ];
}

export function exportEntries(panel: Panel, view: FlameView | null): MenuEntry[] {
  const { source, tree } = panel;
  const files = fileEntries(panel, undefined, () => foldedOf(tree));
  const entries: MenuEntry[] = [];
  if (view) {
    entries.push(
      { heading: "Picture of what is shown" },
      { text: "PNG", run: () => void downloadPicture(view, source.title) },
      { text: "SVG", run: () => download(new Blob([view.toSVG()], { type: "image/svg+xml" }), fileName(source.title, "svg")) },
      "line",
    );
  }
  entries.push(
    { heading: "Table of functions" },
    { text: "CSV", run: () => download(new Blob([csvOf(tree, tableRows(panel).rows)], { type: "text/csv" }), fileName(source.title, "csv")) },
  );
  entries.push("line", { heading: "The profile" }, ...files);
  if (source.curl || source.command) entries.push("line", { heading: "The question" });
  if (source.curl) entries.push({ text: "Copy as curl", run: () => void copyText(source.curl!(), "The command is") });
  if (source.command) entries.push({ text: "Copy as hearth query", run: () => void copyText(source.command!(), "The command is") });
  return entries;
}
