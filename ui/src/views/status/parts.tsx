// SPDX-License-Identifier: Apache-2.0
// Small parts of the status: cards with names and values, and tables that are never long.

import type { ComponentChildren } from "preact";
import { formatBytes, formatCount, formatDuration, formatNumber } from "../../lib/format.ts";

export function Card({ title, note, children }: { title: string; note?: ComponentChildren; children: ComponentChildren }) {
  const id = `status-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return (
    <section class="card status-card" aria-labelledby={id}>
      <header>
        <h2 id={id} class="spread">{title}</h2>
        {note}
      </header>
      <div class="inside">{children}</div>
    </section>
  );
}

/** Names and values below each other. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren, title?: string] | null)[] }) {
  return (
    <dl class="facts">
      {facts.filter((fact) => fact !== null).map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/* Names of the API that say too little by themselves. */
const names: Record<string, string> = {
  waiting_bytes: "Bytes waiting", inflight_bytes: "Bytes being read", unread_bytes: "Bytes of answers unread", answers_refused: "Answers refused",
  drained: "Stored later", uploads: "Uploads in it", wal: "Write-ahead log", heads: "Open hours", slot_rollups: "Sums of five minutes",
  seconds: "Kept for", min_free_bytes: "Left free on the disk", body_bytes: "A request", queue_bytes: "Waiting requests", spill_bytes: "Spill file",
  profile_age_seconds: "Age of a profile", profile_ahead_seconds: "Profile in the future", series_labels: "Labels of a series", splits: "Series of a profile",
  query_bytes: "Memory of a query", query_seconds: "Time of a query", answer_bytes: "An answer", adhoc_bytes: "Ad-hoc files", adhoc_seconds: "Ad-hoc files are kept",
  hour_rollups: "Sums of hours", head_rows: "Rows of open hours", sums: "Sums of series", spans: "Index of spans", other: "Others",
};

/** A name of the API as words: "max_age" → "Max age". */
export function wordsOf(name: string): string {
  if (names[name]) return names[name];
  const words = name.replace(/_bytes$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A number in full as long as it can be read at a glance. */
export function formatExact(n: number): string {
  return Math.abs(n) < 1e5 ? formatNumber(n) : formatCount(n);
}

/** A number of the API by the end of its name: bytes where it says so. */
export function formatField(name: string, value: number): string {
  if (name === "bytes" || name.endsWith("_bytes")) return formatBytes(value);
  if (name === "seconds" || name.endsWith("_seconds")) return formatDuration(value * 1e9);
  return Number.isInteger(value) ? formatExact(value) : formatNumber(value);
}

/** Whatever an object of the API holds, as facts; objects within it are left out. */
export function fieldsOf(fields: Record<string, unknown>, absent = "–"): (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (typeof value === "number") return [[wordsOf(name), formatField(name, value)] as const];
    if (typeof value === "boolean") return [[wordsOf(name), value ? "yes" : "no"] as const];
    if (typeof value === "string") return [[wordsOf(name), value || "–"] as const];
    return value === null ? [[wordsOf(name), absent] as const] : [];
  });
}

/** A share as a bar, with the number beside it. */
export function Bar({ share }: { share: number }) {
  return (
    <span class="status-bar" aria-hidden="true">
      <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}
