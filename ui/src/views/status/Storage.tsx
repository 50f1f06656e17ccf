// SPDX-License-Identifier: Apache-2.0
// What the store holds and what it costs: by service, by kind, by series. Administrators alone may see it.

import { ApiError } from "../../api/client.ts";
import type { Amount, SignalLimits, SignalStats, Stats } from "../../api/status.ts";
import { Failure, Loading } from "../../components/basics.tsx";
import { VirtualTable } from "../../components/VirtualTable.tsx";
import { formatBytes, formatDuration, formatNumber, formatTime, shortened } from "../../lib/format.ts";
import type { Resource } from "../../lib/resource.ts";
import { zone } from "../../lib/theme.ts";
import { Bar, Card, Facts, formatExact, wordsOf } from "./parts.tsx";

interface Share {
  name: string;
  bytes: number;
  n?: number; // of what is counted beside
}

/** The largest first, with bars; what has nothing is left out. */
function Shares({ label, counted, shares }: { label: string; counted?: string; shares: readonly Share[] }) {
  const rows = shares.filter((one) => one.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const total = rows.reduce((sum, one) => sum + one.bytes, 0);
  if (rows.length === 0) return <p class="muted">Nothing yet.</p>;
  return (
    <div class="status-flush">
      <VirtualTable
        label={label}
        rows={rows}
        keyOf={(row) => row.name}
        height={`min(${(rows.length + 1) * 28 + 4}px, 22em)`}
        columns={[
          { id: "name", title: label, width: "minmax(8em, 1fr)", cell: (row) => <span title={shortened(row.name, 2000)}>{shortened(row.name)}</span> },
          ...(counted ? [{ id: "n", title: counted, width: "5.5em", isNumber: true, cell: (row: Share) => formatExact(row.n ?? 0) }] : []),
          { id: "bytes", title: "Size", width: "5.5em", isNumber: true, cell: (row) => formatBytes(row.bytes) },
          { id: "share", title: "Share", width: "minmax(2.5em, 5em)", cell: (row) => <Bar share={row.bytes / total} /> },
        ]}
      />
    </div>
  );
}

const amounts = (kinds: Record<string, Amount>): Share[] =>
  Object.entries(kinds).map(([name, { n, bytes }]) => ({ name: wordsOf(name), bytes, n }));

const rangeText = (firstNs: number, lastNs: number) => `${formatTime(firstNs / 1e6, zone.value, false)} to ${formatTime(lastNs / 1e6, zone.value, false)}`;

function Held({ stats }: { stats: Stats }) {
  const range = stats.first_ns && stats.last_ns ? rangeText(stats.first_ns, stats.last_ns) : "nothing yet";
  return (
    <Facts
      facts={[
        ["On disk", formatBytes(stats.disk_bytes)],
        ["Days", `${formatExact(stats.days)}, ${formatExact(stats.open_days)} open`],
        ["Profiles begin", range],
        ["Rows", formatExact(stats.rows), "A profile is a row of each series that its labels split it into."],
        ["Samples", formatExact(stats.samples)],
        ["A sample takes", stats.bytes_per_sample > 0 ? `${formatNumber(stats.bytes_per_sample)} B` : "–"],
        ["Written in all", formatBytes(stats.written_bytes)],
        stats.write_amplification > 0 ? ["Write amplification", formatNumber(stats.write_amplification)] : null,
        stats.quarantined + stats.damaged > 0 ? ["Damaged", <span class="status-bad">{`${formatExact(stats.damaged)} days, ${formatExact(stats.quarantined)} in quarantine`}</span>] : null,
      ]}
    />
  );
}

/** Traces or metrics: what is kept of them, and how long. */
function Kept({ stats, limits }: { stats: SignalStats; limits: SignalLimits | undefined }) {
  const { first_ns: first, last_ns: last } = stats;
  return (
    <Facts
      facts={[
        ["On disk", formatBytes(stats.disk_bytes)],
        ["Days", formatExact(stats.days)],
        stats.spans === undefined ? null : ["Spans", formatExact(stats.spans)],
        stats.spans && first && last ? ["Spans begin", rangeText(first, last)] : null,
        stats.spans ? ["A span takes", `${formatNumber(stats.disk_bytes / stats.spans)} B`, "Those of open hours take more than they will."] : null,
        limits ? ["Kept for", limits.retention_seconds ? formatDuration(limits.retention_seconds * 1e9) : "no limit"] : null,
        limits ? ["At most", limits.retention_bytes ? formatBytes(limits.retention_bytes) : "no limit"] : null,
        stats.damaged > 0 ? ["Damaged", <span class="status-bad">{`${formatExact(stats.damaged)} days`}</span>] : null,
      ]}
    />
  );
}

export function Storage({ stats, traces, metrics }: { stats: Resource<Stats>; traces: SignalLimits | undefined; metrics: SignalLimits | undefined }) {
  const { value, error } = stats;
  if (!value) {
    const isForbidden = error instanceof ApiError && (error.status === 403 || error.status === 401);
    return (
      <Card title="Storage">
        {isForbidden && <p>Only administrators may see what is stored. The server says: {error.message}</p>}
        {error !== undefined && !isForbidden && <Failure error={error} retry={stats.retry} />}
        {error === undefined && <Loading what="Adding up what is stored" />}
      </Card>
    );
  }
  const byService = value.services?.map((one) => ({
    name: one.tenant && one.tenant !== "anonymous" ? `${one.service} (${one.tenant})` : one.service, bytes: one.bytes, n: one.samples,
  }));
  const bySeries = value.top_series.map((one) => ({ name: one.series, bytes: one.bytes, n: one.samples }));
  return (
    <>
      <Card title="Storage"><Held stats={value} /></Card>
      {value.traces && <Card title="Traces"><Kept stats={value.traces} limits={traces} /></Card>}
      {value.metrics && <Card title="Metrics"><Kept stats={value.metrics} limits={metrics} /></Card>}
      {byService && <Card title="Storage by service"><Shares label="Service" counted="Samples" shares={byService} /></Card>}
      <Card title="Storage by kind of file"><Shares label="Kind of file" shares={Object.entries(value.files).map(([name, bytes]) => ({ name: wordsOf(name), bytes }))} /></Card>
      <Card title="Storage by kind of value" note={<span class="muted">before compression</span>}>
        <Shares label="Kind of value" counted="Values" shares={[...amounts(value.values), ...amounts(value.dictionary).map((one) => ({ ...one, name: `Dictionary: ${one.name.toLowerCase()}` }))]} />
      </Card>
      <div class="status-whole"><Card title="Series that take most"><Shares label="Series" counted="Samples" shares={bySeries} /></Card></div>
    </>
  );
}
