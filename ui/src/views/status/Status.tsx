// SPDX-License-Identifier: Apache-2.0
// How the server does: who sends what, what was dropped and why, what waits, what is stored, and by which options.

import { useRef } from "preact/hooks";
import { getStats, getStatus, type Status as ServerStatus } from "../../api/status.ts";
import { Failure, Loading } from "../../components/basics.tsx";
import { formatAgo, formatBytes, formatNumber, formatTime } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { usePoll } from "../../lib/poll.ts";
import { useResource } from "../../lib/resource.ts";
import { zone } from "../../lib/theme.ts";
import { Options, Targets } from "./Options.tsx";
import { Card, Facts, fieldsOf, formatExact } from "./parts.tsx";
import { droppedOf, lookOf, ratesOf, withLook, type Look, type Rates } from "./rates.ts";
import { Sources } from "./Sources.tsx";
import { Storage } from "./Storage.tsx";
import "./Status.css";

const REFRESH_MS = 5e3;
const STATS_EVERY_MS = 30e3;

function Server({ status, nowMs }: { status: ServerStatus; nowMs: number }) {
  const started = Date.parse(status.started);
  return (
    <Card title="Server" note={<span class={status.ready ? "chip good" : "chip bad"}>{status.ready ? "ready" : "not ready"}</span>}>
      <Facts
        facts={[
          ["Version", status.version],
          ["Started", `${formatAgo(started, nowMs)}`, formatTime(started, zone.value)],
          ["Connections", formatExact(status.connections)],
          ...status.listeners.map((one) => [one.name.replace(/^listen-?/, "Listens ").replace("otlp-", "OTLP ").trim(), one.address] as const),
          ...status.aliases.map((one) => [`Given as ${one.given}`, one.option] as const),
        ]}
      />
    </Card>
  );
}

function Incoming({ status, rates }: { status: ServerStatus; rates: Rates | null }) {
  const sum = (value: (source: ServerStatus["sources"][number]) => number) => status.sources.reduce((total, source) => total + value(source), 0);
  const perSecond = (value: number | undefined, format = formatNumber) => (value === undefined ? "" : ` · ${format(Math.round(value * 100) / 100)}/s`);
  const nDropped = sum(droppedOf);
  const reasons = new Map<string, number>();
  for (const source of status.sources) for (const [reason, n] of Object.entries(source.dropped)) reasons.set(reason, (reasons.get(reason) ?? 0) + n);
  return (
    <Card title="Coming in">
      <Facts
        facts={[
          ["Uploads", formatExact(sum((one) => one.uploads)) + perSecond(rates?.uploads)],
          ["Profiles stored", formatExact(sum((one) => one.stored)) + perSecond(rates?.stored)],
          ["Samples", formatExact(sum((one) => one.samples)) + perSecond(rates?.samples)],
          ["Bytes", formatBytes(sum((one) => one.bytes)) + perSecond(rates?.bytes, formatBytes)],
          ["Thinned out", formatExact(sum((one) => one.downsampled)), "Left out under overload; those kept count for them."],
          ["Dropped", nDropped > 0 ? <span class="status-bad">{formatExact(nDropped) + perSecond(rates?.dropped)}</span> : "none"],
          ...[...reasons].sort((a, b) => b[1] - a[1]).map(([reason, n]) => [`… ${reason}`, formatExact(n)] as const),
        ]}
      />
    </Card>
  );
}

function Waiting({ status }: { status: ServerStatus }) {
  const { spill } = status;
  const isSpilling = (spill.bytes ?? 0) > 0;
  return (
    <>
      <Card title="Queue"><Facts facts={fieldsOf(status.queue)} /></Card>
      <Card title="Queries"><Facts facts={fieldsOf(status.queries)} /></Card>
      <Card title="Spill file" note={isSpilling ? <span class="chip warn">in use</span> : undefined}>
        <Facts facts={fieldsOf({ ...spill, max_bytes: undefined }).concat(spill.max_bytes ? [["Room for", formatBytes(spill.max_bytes)]] : [])} />
      </Card>
    </>
  );
}

function retentionFacts(retention: Record<string, number | null>): (readonly [string, string])[] {
  const { bytes, min_free_bytes: free, ...others } = retention;
  return [
    ...fieldsOf(others, "no limit"),
    ["Size of the store", bytes ? formatBytes(bytes) : "no limit"],
    ["Left free on the disk", free ? formatBytes(free) : "a hundredth, at most 1 GiB"],
  ];
}

export function Status() {
  const looks = useRef<Look[]>([]);
  const status = useResource(
    "status",
    async (signal) => {
      const value = await getStatus(signal);
      const atMs = Date.now();
      looks.current = withLook(looks.current, lookOf(atMs, value.started, value.sources));
      return { value, atMs, rates: ratesOf(looks.current) };
    },
    usePoll(REFRESH_MS),
  );
  const stats = useResource("stats", getStats, usePoll(STATS_EVERY_MS));
  useKeys([{ keys: "r", group: "Status", what: "Ask again", run: () => { status.retry(); stats.retry(); } }]);

  if (!status.value) {
    return <div class="view">{status.error === undefined ? <Loading what="Asking the server" /> : <Failure error={status.error} retry={status.retry} />}</div>;
  }
  const { value, atMs, rates } = status.value;
  return (
    <div class="view">
      <h1 class="visually-hidden">Status</h1>
      {status.error !== undefined && <Failure error={status.error} retry={status.retry} />}
      <div class="status-columns">
        <Server status={value} nowMs={atMs} />
        <Incoming status={value} rates={rates?.all ?? null} />
        <Waiting status={value} />
        {value.retention && <Card title="Retention"><Facts facts={retentionFacts(value.retention)} /></Card>}
        {value.limits && <Card title="Limits"><Facts facts={fieldsOf(value.limits, "none")} /></Card>}
      </div>
      <Sources sources={value.sources} nowMs={atMs} each={rates?.each ?? null} />
      <div class="status-grid"><Storage stats={stats} traces={value.traces} metrics={value.metrics} /></div>
      {value.options && <Options options={value.options} />}
      <Targets targets={value.scrape} nowMs={atMs} />
      <p class="muted">As of {formatTime(atMs, zone.value)}; asked again every few seconds while this page is in sight.</p>
    </div>
  );
}
