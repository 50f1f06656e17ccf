// SPDX-License-Identifier: Apache-2.0
// Everybody who sent something since the server started: what came, what became of it, and what went wrong.

import { useMemo } from "preact/hooks";
import type { Source } from "../../api/status.ts";
import { useSize } from "../../components/basics.tsx";
import { VirtualTable, type Column, type Sort } from "../../components/VirtualTable.tsx";
import { formatAgo, formatBytes, formatNumber, shortened } from "../../lib/format.ts";
import { quote } from "../../lib/query.ts";
import { navigate, route, urlOf } from "../../lib/route.ts";
import { Card, formatExact } from "./parts.tsx";
import { droppedOf, keyOf, type Rates } from "./rates.ts";

type Each = ReadonlyMap<string, Rates> | null;

function dropsSentence(source: Source): string {
  return Object.entries(source.dropped).sort((a, b) => b[1] - a[1]).map(([reason, n]) => `${formatExact(n)} ${reason}`).join(", ");
}

function columnsOf(width: number, nowMs: number, each: Each, hasTenants: boolean): Column<Source>[] {
  const number = (id: string, title: string, hint: string, value: (source: Source) => string, em = "6em"): Column<Source> => ({
    id, title, hint, isNumber: true, isSortable: true, width: em, cell: value,
  });
  const service: Column<Source> = {
    id: "service", title: "Service", isSortable: true, width: "minmax(7em, 1fr)",
    cell: (source) => <a href={urlOf("explore", { query: `{service_name=${quote(source.service)}}` })} title={shortened(source.service)}>{shortened(source.service) || "(no name)"}</a>,
  };
  const tenant: Column<Source> = { id: "tenant", title: "Tenant", isSortable: true, width: "minmax(5em, 0.5fr)", cell: (source) => shortened(source.tenant) };
  const sender: Column<Source> = { id: "sender", title: "Sender", isSortable: true, width: "minmax(7em, 0.8fr)", cell: (source) => <span title={shortened(source.sender)}>{shortened(source.sender)}</span> };
  const dropped: Column<Source> = {
    id: "dropped", title: "Dropped", hint: "Profiles that were not kept, and why.", isSortable: true, width: "minmax(5em, 1fr)",
    cell: (source) => {
      const drops = dropsSentence(source);
      return drops ? <span class="status-bad" title={shortened(drops)}>{shortened(drops)}</span> : <span class="muted">none</span>;
    },
  };
  const seen: Column<Source> = {
    id: "last_seen", title: "Last seen", isSortable: true, isNumber: true, width: "7.5em",
    cell: (source) => (source.last_seen ? formatAgo(Date.parse(source.last_seen), nowMs) : "never"),
  };
  const error: Column<Source> = {
    id: "last_error", title: "Last error", isSortable: true, width: "minmax(6em, 1.2fr)",
    cell: (source) => (source.last_error
      ? <span class="status-bad" title={shortened(source.last_error, 2000)}>{source.last_error_at ? `${formatAgo(Date.parse(source.last_error_at), nowMs)}: ` : ""}{shortened(source.last_error)}</span>
      : <span class="muted">none</span>),
  };
  const uploads = number("uploads", "Uploads", "Requests that came.", (source) => formatExact(source.uploads), "5.5em");
  const stored = number("stored", "Stored", "Profiles that were kept.", (source) => formatExact(source.stored), "5.5em");
  const samples = number("samples", "Samples", "Stacks with values in what was kept.", (source) => formatExact(source.samples), "5.5em");
  const bytes = number("bytes", "Received", "Bytes that came.", (source) => formatBytes(source.bytes));
  const rate = number("rate", "Per minute", "Uploads per minute between the last two looks.", (source) => {
    const rates = each?.get(keyOf(source));
    return rates ? formatNumber(Math.round(rates.uploads * 600) / 10) : "–";
  });
  const tenants = hasTenants ? [tenant] : [];
  if (width < 560) return [service, { ...uploads, width: "4.5em" }, seen];
  if (width < 1000) return [...tenants, service, uploads, stored, dropped, seen];
  return [...tenants, service, sender, uploads, rate, stored, samples, bytes, dropped, seen, error];
}

function valueOf(source: Source, id: string, each: Each): number | string {
  if (id === "dropped") return droppedOf(source);
  if (id === "rate") return each?.get(keyOf(source))?.uploads ?? -1;
  const value = source[id as keyof Source];
  return typeof value === "number" || typeof value === "string" ? value : "";
}

export function sortedSources(sources: readonly Source[], sort: Sort, each: Each): Source[] {
  const sign = sort.isDescending ? -1 : 1;
  return [...sources].sort((a, b) => {
    const [x, y] = [valueOf(a, sort.id, each), valueOf(b, sort.id, each)];
    return x === y ? (keyOf(a) < keyOf(b) ? -1 : 1) : sign * (x < y ? -1 : 1);
  });
}

export function Sources({ sources, nowMs, each }: { sources: readonly Source[]; nowMs: number; each: Each }) {
  const [ref, size] = useSize<HTMLDivElement>();
  const { params } = route.value;
  const filter = params.get("sources") ?? "";
  const [id = "last_seen", order = "down"] = (params.get("sort") ?? "last_seen.down").split(".");
  const sort = { id, isDescending: order === "down" };
  const words = filter.toLowerCase();
  const found = useMemo(
    () => (words ? sources.filter((one) => `${one.tenant} ${one.service} ${one.sender} ${Object.keys(one.dropped).join(" ")}`.toLowerCase().includes(words)) : sources),
    [sources, words],
  );
  const rows = useMemo(() => sortedSources(found, sort, each), [found, id, order, each]);
  const hasTenants = sources.some((one) => one.tenant !== sources[0].tenant);
  return (
    <Card
      title="Sources"
      note={
        <>
          <span class="muted">{found.length === sources.length ? formatExact(sources.length) : `${formatExact(found.length)} of ${formatExact(sources.length)}`}</span>
          <input class="field" type="search" placeholder="Filter sources" aria-label="Filter sources" value={filter} onInput={(event) => navigate({ params: { sources: event.currentTarget.value } }, "replace")} />
        </>
      }
    >
      <div ref={ref} class="status-flush">
        {rows.length === 0 && <p class="muted status-none">{sources.length === 0 ? "Nothing came since the server started." : "No source has this in its name."}</p>}
        {rows.length > 0 && size.width > 0 && (
          <VirtualTable
            label="Sources"
            columns={columnsOf(size.width, nowMs, each, hasTenants)}
            rows={rows}
            keyOf={keyOf}
            sort={sort}
            onSort={(next) => navigate({ params: { sort: next.id === "last_seen" && next.isDescending ? null : `${next.id}.${next.isDescending ? "down" : "up"}` } })}
            height={`min(${(rows.length + 1) * 28 + 4}px, 26em)`}
          />
        )}
      </div>
    </Card>
  );
}
