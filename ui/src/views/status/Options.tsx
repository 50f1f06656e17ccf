// SPDX-License-Identifier: Apache-2.0
// The options that are in force, where each came from, and what the server asks for profiles by itself.

import type { EffectiveOption, ScrapeTarget } from "../../api/status.ts";
import { VirtualTable } from "../../components/VirtualTable.tsx";
import { formatAgo, formatBytes, formatCount, formatDuration, shortened } from "../../lib/format.ts";
import { navigate, route } from "../../lib/route.ts";
import { Card } from "./parts.tsx";

function valueText({ value }: EffectiveOption): string {
  return (Array.isArray(value) ? value.join(", ") : value) || "–";
}

export function Options({ options }: { options: readonly EffectiveOption[] }) {
  const search = route.value.params.get("options") ?? "";
  const words = search.toLowerCase();
  const rows = options.filter((one) => `${one.name} ${valueText(one)} ${one.origin} ${one.where}`.toLowerCase().includes(words));
  return (
    <Card
      title="Options in force"
      note={<input class="field" type="search" placeholder="Search options" aria-label="Search options" value={search} onInput={(event) => navigate({ params: { options: event.currentTarget.value } }, "replace")} />}
    >
      <div class="status-flush">
        {rows.length === 0 ? <p class="muted status-none">No option has “{search}” in it.</p> : (
          <VirtualTable
            label="Options"
            rows={rows}
            keyOf={(row) => row.name}
            height={`min(${(rows.length + 1) * 28 + 4}px, 26em)`}
            columns={[
              { id: "name", title: "Option", width: "minmax(9em, 1fr)", cell: (row) => <span class="mono" title={row.name}>{row.name}</span> },
              { id: "value", title: "Value", width: "minmax(6em, 1.2fr)", cell: (row) => <span class="mono" title={shortened(valueText(row), 2000)}>{shortened(valueText(row))}</span> },
              { id: "origin", title: "Set by", width: "minmax(5em, 0.8fr)", cell: (row) => <span class={row.origin === "default" ? "muted" : ""} title={row.where}>{row.where || row.origin}</span> },
            ]}
          />
        )}
      </div>
    </Card>
  );
}

export function Targets({ targets, nowMs }: { targets: readonly ScrapeTarget[]; nowMs: number }) {
  return (
    <Card title="Scraped programs" note={<span class="muted">{formatCount(targets.length)}</span>}>
      {targets.length === 0 ? <p class="muted">The server asks no program by itself. Programs with /debug/pprof can be named in its configuration, under scrape.</p> : (
        <div class="status-flush">
          <VirtualTable
            label="Scraped programs"
            rows={targets}
            keyOf={(row) => `${row.job} ${row.kind} ${row.url}`}
            height={`min(${(targets.length + 1) * 28 + 4}px, 22em)`}
            columns={[
              { id: "job", title: "Job", width: "minmax(5em, 0.6fr)", cell: (row) => row.job },
              { id: "url", title: "Address", width: "minmax(8em, 1.4fr)", cell: (row) => <span title={shortened(row.url)}>{shortened(row.url)}</span> },
              { id: "result", title: "Result", width: "minmax(5em, 0.8fr)", cell: (row) => <span class={row.failures_in_row > 0 ? "status-bad" : ""} title={shortened(row.last_error)}>{row.result}</span> },
              { id: "last", title: "Last", width: "7.5em", isNumber: true, cell: (row) => (row.last_scrape ? formatAgo(Date.parse(row.last_scrape), nowMs) : "never") },
              { id: "took", title: "Took", width: "5em", isNumber: true, cell: (row) => formatDuration(row.seconds * 1e9) },
              { id: "bytes", title: "Size", width: "5.5em", isNumber: true, cell: (row) => formatBytes(row.bytes) },
              { id: "failures", title: "Failed", width: "5em", isNumber: true, cell: (row) => `${formatCount(row.failures)} of ${formatCount(row.scrapes)}` },
            ]}
          />
        </div>
      )}
    </Card>
  );
}
