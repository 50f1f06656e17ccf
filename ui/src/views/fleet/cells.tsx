// SPDX-License-Identifier: Apache-2.0
// Cells of the table of services.

import { DAY_MS, queryOf, type Course } from "../../api/fleet.ts";
import { isLess, isMore, verdictTexts, type Change } from "../../lib/change.ts";
import { formatAgo, formatBytes, formatCores, formatCount, formatNumber, shortened } from "../../lib/format.ts";
import { quote } from "../../lib/query.ts";
import { urlOf } from "../../lib/route.ts";
import { shifted, type TimeRange } from "../../lib/time.ts";
import { compareParams } from "../compare/state.ts";
import type { Health, ServiceRow } from "./rows.ts";

/** Nothing new for so long is worth a word. */
const SILENT_MS = 5 * 60e3;

export function formatAmount(value: number, unit: string): string {
  return unit === "cores" ? formatCores(value) : formatBytes(value);
}

/** +12 %, −3.4 %, ×25. */
export function formatShareChange(share: number): string {
  if (share >= 9) return `×${formatNumber(1 + share)}`;
  const percent = Math.abs(share) * 100;
  const text = percent >= 10 ? Math.round(percent) : Number(percent.toFixed(1));
  return text === 0 ? "±0 %" : `${share > 0 ? "+" : "−"}${text} %`;
}

export function Memory({ value }: { value: number | null }) {
  return value === null ? <span class="muted">–</span> : <>{formatBytes(value)}</>;
}

/** Cores to the thousandth, so that numbers stand below each other. */
export function Cores({ value }: { value: number | null }) {
  if (value === null) return <span class="muted">–</span>;
  if (value === 0) return <>0</>;
  const isTiny = Math.abs(value) < 0.001;
  return <span title={formatCores(value)}>{isTiny ? "< 0.001" : Math.abs(value) >= 100 ? formatNumber(value) : value.toFixed(Math.abs(value) >= 10 ? 1 : 3)}</span>;
}

/** What the change means, in full, for a tooltip. */
export function changeSentence(change: Change, unit: string): string {
  const { before, after, delta, error } = change;
  if (before === null && after === null) return "Nothing was measured in either time.";
  if (before === null) return `${formatAmount(after!, unit)} now; there were no profiles at this time yesterday.`;
  if (after === null) return `${formatAmount(before, unit)} at this time yesterday; there are no profiles now.`;
  const sign = delta < 0 ? "−" : "+";
  const spread = error === null ? "" : ` ± ${formatAmount(error, unit)}`;
  return `${formatAmount(before, unit)} at this time yesterday, ${formatAmount(after, unit)} now: ${sign}${formatAmount(Math.abs(delta), unit)}${spread}.`;
}

export function ChangeCell({ change, unit }: { change: Change; unit: string }) {
  if (change.verdict === "none") return <span class="muted">–</span>;
  const kind = isMore(change.verdict) ? "more" : isLess(change.verdict) ? "less" : "muted";
  const isSure = change.verdict.startsWith("surely") || change.verdict === "new" || change.verdict === "gone";
  const hasShare = change.share !== null && change.verdict !== "gone" && change.verdict !== "new";
  return (
    <span class={`fleet-change ${kind}`} title={changeSentence(change, unit)}>
      {hasShare && <span class={isSure ? "fleet-sure" : ""}>{formatShareChange(change.share!)}</span>}{" "}
      <span class={hasShare ? "fleet-verdict" : isSure ? "fleet-sure" : ""}>{verdictTexts[change.verdict]}</span>
    </span>
  );
}

function healthSentence(health: Health): string {
  const parts = [`${formatCount(health.nSources)} ${health.nSources === 1 ? "source" : "sources"} since the server started.`];
  for (const [reason, n] of health.dropped) parts.push(`${formatCount(n)} dropped: ${reason}.`);
  if (health.lastError) parts.push(`Last error: ${health.lastError}`);
  return shortened(parts.join("\n"), 2000);
}

export function HealthCell({ row: { health, seenMs }, nowMs }: { row: ServiceRow; nowMs: number }) {
  const isSilent = nowMs - seenMs > SILENT_MS;
  return (
    <span class="fleet-health" title={health ? healthSentence(health) : "Nothing came since the server started."}>
      {health && health.nDropped > 0 && <span class="chip bad">{formatCount(health.nDropped)} dropped</span>}
      <span class={isSilent ? "chip warn" : "muted"}>{Number.isNaN(seenMs) ? "unknown" : formatAgo(seenMs, nowMs)}</span>
    </span>
  );
}

/** The type by which a row is looked at: its CPU, else its memory, else whatever the server chooses. */
export function rowQuery(row: ServiceRow): string {
  const course: Course | null = row.cpu ?? row.memory;
  return course ? queryOf(row.service, course.type) : `{service_name=${quote(row.service)}}`;
}

export function exploreUrl(row: ServiceRow, range: TimeRange): string {
  return urlOf("explore", { query: rowQuery(row), from: range.from, until: range.until });
}

export function compareUrl(query: string, range: TimeRange, nowMs: number): string {
  const before = { query, range: shifted(range, DAY_MS, nowMs) };
  return urlOf("compare", compareParams({ before, after: { query, range }, scale: "durations" }));
}
