// SPDX-License-Identifier: Apache-2.0
// Flame graphs of queries, and the same question in other forms: files, lines of a function, commands for a terminal.

import type { ExportFormat, LineRow } from "../components/panel/source.ts";
import { decodeFlame } from "../flame/decode.ts";
import type { FlameTree } from "../flame/tree.ts";
import { apiUrl, getBytes, getJson, type Message, type Query } from "./client.ts";

/** What is asked for: as `hearth query` takes it. */
export interface Question {
  query: string;
  from: string;
  until: string;
  filter: string; // only samples with a function that matches; "" = all
  spanId: string;
  traceId: string;
  profileId: string;
  operation: string; // only samples of spans of this operation; "" = all
  attribution: string; // "root": samples of spans below count as well; "" = those of the span itself alone
}

/** The server answers so many nodes of a large service in a tenth of a second; what it leaves out comes as `other`, and opens
 * when one looks below it. */
export const maxNodes = 16384;

export function paramsOf(question: Question): Query {
  const { query, from, until, filter } = question;
  return {
    query,
    from,
    until,
    focus: filter,
    "span-id": question.spanId,
    "trace-id": question.traceId,
    "profile-id": question.profileId,
    operation: question.operation,
    attribution: question.attribution,
  };
}

/** Names from below the root, as the parameter `path` takes them. */
export function pathText(path: readonly string[]): string {
  return path.map((name) => name.replace(/[\\;]/g, "\\$&")).join(";");
}

export async function getFlame(
  question: Question,
  signal: AbortSignal,
  path: readonly string[] = [],
): Promise<{ tree: FlameTree; messages: Message[] }> {
  const { data, messages } = await getBytes(
    "flamegraph",
    { ...paramsOf(question), format: "flame", "max-nodes": maxNodes, "min-share": "0", path: pathText(path) },
    signal,
  );
  return { tree: decodeFlame(data), messages };
}

/** Where the whole profile is to be had as a file. The server cuts out no part of one, so there is none of a path. */
export function exportUrl(question: Question, format: ExportFormat, path: readonly string[] = []): string | null {
  return path.length > 0 ? null : apiUrl("export", { ...paramsOf(question), format });
}

interface TopAnswer {
  functions: { name: string; file: string; line: number; self: number; total: number }[];
}

/** Values of a function by line. Rows are named FUNCTION FILE:LINE there, or FUNCTION alone where no line is known. */
export async function getLines(question: Question, functionName: string, signal: AbortSignal): Promise<LineRow[]> {
  const focus = `^${functionName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  const { data } = await getJson<TopAnswer>(
    "top",
    { ...paramsOf(question), focus, granularity: "line", rows: 0 },
    signal,
  );
  return data.functions
    .filter(
      (one) =>
        one.name === functionName || (one.name.startsWith(`${functionName} `) && one.name.endsWith(`:${one.line}`)),
    )
    .map(({ file, line, self, total }) => ({ file, line, self, total }));
}

/** For a shell: as it is where nothing in it is special, in single quotes else. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function serverUrl(): string {
  return new URL(".", document.baseURI).href.replace(/\/$/, "");
}

export function curlOf(question: Question): string {
  return `curl -g ${shellWord(`${serverUrl()}/${apiUrl("flamegraph", { ...paramsOf(question), "max-nodes": maxNodes })}`)}`;
}

/** The question as a command: `hearth query ... --url ...`. */
export function commandOf(question: Question): string {
  const words = ["hearth", "query", question.query];
  for (const [name, value] of Object.entries(paramsOf(question)))
    if (name !== "query" && value) words.push(`--${name}`, String(value));
  return [...words, "--url", serverUrl()].map(shellWord).join(" ");
}
