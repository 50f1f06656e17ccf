// SPDX-License-Identifier: Apache-2.0
// What the profile panel asks of whoever shows it: how to get more than the tree at hand.

import type { FlameTree } from "../../flame/tree.ts";

export type ExportFormat = "pprof" | "folded" | "otlp" | "html";

/** What one line of a function costs, as true values in the unit of the tree. */
export interface LineRow {
  file: string; // "" = unknown
  line: number; // 0 = unknown
  self: number;
  total: number;
}

/** Paths are names of functions from the one below the root on; the root itself is []. */
export interface ProfileSource {
  kind: "query" | "diff" | "adhoc" | "offline";
  /** For the names of exported files and for screen readers. */
  title: string;
  /** Asks the server again below this path, so that what was cut there (`other`) opens up. */
  focus?: (path: string[], signal: AbortSignal) => Promise<FlameTree>;
  /** Where the profile (or the part below a path) is to be had as a file; null where that format is not. */
  exportUrl?: (format: ExportFormat, path?: string[]) => string | null;
  /** The same question for a terminal. */
  curl?: () => string;
  command?: () => string;
  /** Values of a function by file and line. */
  lines?: (functionName: string, signal: AbortSignal) => Promise<LineRow[]>;
  /** Filters the query by this function. */
  filterBy?: (functionName: string) => void;
  /** The address of the slowest traces whose spans sampled this function. */
  tracesUrl?: (functionName: string) => string;
  /** Of a diff: links from a frame to the same in either profile. */
  sides?: { before: (path: string[]) => string; after: (path: string[]) => string };
}
