// SPDX-License-Identifier: Apache-2.0
// All services at a glance: what they use, what changed since yesterday, and whether their profiles still come. The surest
// worsening comes first.

import { useMemo, useRef, useState } from "preact/hooks";
import { getDatedTypes } from "../../api/census.ts";
import { getFleet, getServiceNames, type FleetAnswer } from "../../api/fleet.ts";
import { getStatus } from "../../api/status.ts";
import { Button, Empty, Failure, Loading, useSize } from "../../components/basics.tsx";
import { FirstRun, SELF_SERVICE } from "../../components/FirstRun.tsx";
import { Sparkline } from "../../components/Sparkline.tsx";
import { TimeRangePicker } from "../../components/TimeRangePicker.tsx";
import { VirtualTable, type Column, type Sort } from "../../components/VirtualTable.tsx";
import { formatNumber, formatTime, shortened } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { usePoll } from "../../lib/poll.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, route } from "../../lib/route.ts";
import { zone } from "../../lib/theme.ts";
import { defaultRange, isRelative, resolveTime, type TimeRange } from "../../lib/time.ts";
import { useTyped } from "../../lib/typed.ts";
import { ChangeCell, compareUrl, Cores, exploreUrl, HealthCell, Memory, rowQuery } from "./cells.tsx";
import { healthOf, isDescendingAtFirst, isSortId, rowsOf, sorted, sorts, type ServiceRow, type SortId } from "./rows.ts";
import "./Fleet.css";

const REFRESH_MS = 30e3;
const ROW_HEIGHT = 36;

interface FleetState {
  range: TimeRange;
  filter: string;
  sort: Sort & { id: SortId };
}

/** `sort` in the URL is a column, with ".up" or ".down" where it is the other way round than at first. */
function stateOf(params: ReadonlyMap<string, string>): FleetState {
  const [, id = "", order] = /^(.*?)(?:\.(up|down))?$/.exec(params.get("sort") ?? "") ?? [];
  const known = isSortId(id) ? id : "worse";
  return {
    range: { from: params.get("from") ?? defaultRange.from, until: params.get("until") ?? defaultRange.until },
    filter: params.get("filter") ?? "",
    sort: { id: known, isDescending: order ? order === "down" : isDescendingAtFirst(known) },
  };
}

function setSort(sort: Sort): void {
  if (!isSortId(sort.id)) return;
  const isUsual = sort.isDescending === isDescendingAtFirst(sort.id);
  const text = sort.id + (isUsual ? "" : sort.isDescending ? ".down" : ".up");
  navigate({ params: { sort: text === "worse" ? null : text } });
}

function columnsOf(width: number, range: TimeRange, nowMs: number): Column<ServiceRow>[] {
  const service: Column<ServiceRow> = {
    id: "service", title: "Service", isSortable: true, width: "minmax(8em, 1fr)",
    cell: (row) => <a href={exploreUrl(row, range)} title={shortened(row.service)}><bdi>{shortened(row.service) || "(no name)"}</bdi></a>,
  };
  const cpu: Column<ServiceRow> = {
    id: "cpu", title: width < 560 ? "Cores" : "CPU cores", hint: "How many processors the service kept busy, on average.", isNumber: true, isSortable: true, width: "6.5em",
    cell: (row) => <Cores value={row.cpuChange.after} />,
  };
  const line: Column<ServiceRow> = {
    id: "line", title: "Over time", hint: "CPU, or memory where no CPU is known; dashed: the day before.", width: "minmax(8em, 1.2fr)",
    cell: (row) => <Sparkline points={(row.cpu ?? row.memory)?.after ?? null} behind={(row.cpu ?? row.memory)?.before ?? null} />,
  };
  const cpuChange: Column<ServiceRow> = {
    id: "cpu-change", title: width < 560 ? "Since yesterday" : "CPU since yesterday", isSortable: true, isNumber: true, width: "12.5em",
    hint: "Against the same range a day before, and whether that is more than chance.",
    cell: (row) => <ChangeCell change={row.cpuChange} unit="cores" />,
  };
  const memory: Column<ServiceRow> = {
    id: "memory", title: "Memory", hint: "In use, on average, all instances added up.", isNumber: true, isSortable: true, width: "6.5em",
    cell: (row) => <Memory value={row.memoryChange.after} />,
  };
  const memoryChange: Column<ServiceRow> = { ...cpuChange, id: "memory-change", title: "Memory since yesterday", cell: (row) => <ChangeCell change={row.memoryChange} unit="bytes" /> };
  const seen: Column<ServiceRow> = {
    id: "seen", title: "Last profile", hint: "When the last profile came, and what was dropped since the server started.", isSortable: true, width: "11em",
    cell: (row) => <HealthCell row={row} nowMs={nowMs} />,
  };
  const compare: Column<ServiceRow> = {
    id: "compare", title: "Yesterday", width: "5.5em",
    cell: (row) => <a href={compareUrl(rowQuery(row), range, nowMs)} aria-label={`Compare ${shortened(row.service)} with yesterday`}>Compare</a>,
  };
  if (width < 560) return [{ ...service, width: "minmax(5em, 1fr)" }, { ...cpu, width: "4em" }, cpuChange];
  if (width < 900) return [service, cpu, cpuChange, memory, compare];
  if (width < 1150) return [service, cpu, cpuChange, memory, memoryChange, compare];
  return [service, cpu, line, cpuChange, memory, memoryChange, seen, compare];
}

/** There is something, but not in this time: says when, and goes there. */
function OtherTimes() {
  const types = useResource("fleet-times", (signal) => getDatedTypes("", signal));
  if (types.isLoading && !types.value) return <Loading />;
  const others = (types.value ?? []).filter((one) => one.lastMs > 0);
  if (others.length === 0) return <Empty title="No profiles in this time"><p>Choose another time.</p></Empty>;
  const first = Math.min(...others.map((one) => one.firstMs));
  const last = Math.max(...others.map((one) => one.lastMs));
  const go = () => navigate({ params: { from: String(Math.floor(Math.max(first, last - 3600e3))), until: String(Math.ceil(last) + 1000) } });
  return (
    <Empty title="No profiles in this time">
      <p>There are some from {formatTime(first, zone.value)} to {formatTime(last, zone.value)}.</p>
      <div><Button kind="main" onClick={go}>Go to the last hour of them</Button></div>
    </Empty>
  );
}

/** Why there are no rows: nothing at all yet, nothing that the filter leaves, or nothing in this time. */
function Nothing({ filter, onArrived }: { filter: string; onArrived: () => void }) {
  const services = useResource("fleet-any", (signal) => getServiceNames({}, signal));
  if (services.error) return <Failure error={services.error} retry={services.retry} />;
  if (!services.value) return <Loading />;
  if (!services.value.some((name) => name !== SELF_SERVICE)) return <FirstRun onArrived={onArrived} />;
  if (!filter) return <OtherTimes />;
  return (
    <Empty title={`No service has “${filter}” in its name`}>
      <p>Of all times and names there are {formatNumber(services.value.length)} services.</p>
      <div><Button onClick={() => navigate({ params: { filter: null } }, "replace")}>Show all</Button></div>
    </Empty>
  );
}

function summaryOf(answer: FleetAnswer, rows: readonly ServiceRow[]): string {
  const count = (n: number) => `${formatNumber(n)} ${n === 1 ? "service" : "services"}`;
  const nWorse = rows.filter((row) => row.cpuChange.verdict === "surely-more" || row.memoryChange.verdict === "surely-more").length;
  const shown = answer.nLeftOut > 0 ? `The ${formatNumber(rows.length)} largest of ${count(answer.nServices)}; the filter finds the others` : count(answer.nServices);
  return `${shown}. ${nWorse === 0 ? "None surely uses" : `${formatNumber(nWorse)} surely ${nWorse === 1 ? "uses" : "use"}`} more than a day before.`;
}

export function Fleet() {
  const { range, filter, sort } = stateOf(route.value.params);
  const filterField = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useTyped(filter, (text) => navigate({ params: { filter: text } }, "replace"));
  const [arrivals, setArrivals] = useState(0);
  const isOpen = range.until === "now";
  const version = `${usePoll(isRelative(range.until) ? REFRESH_MS : null)} ${arrivals}`;

  const fleet = useResource(
    `${range.from} ${range.until} ${filter}`,
    async (signal) => {
      const nowMs = Date.now();
      const [fromMs, untilMs] = [resolveTime(range.from, nowMs), resolveTime(range.until, nowMs)];
      if (!(fromMs < untilMs)) throw new Error(`The range of time from “${range.from}” until “${range.until}” has no length; choose another.`);
      return { nowMs, ...(await getFleet({ fromMs, untilMs, filter, isOpen }, signal)) };
    },
    version,
  );
  const status = useResource("fleet-status", getStatus, version);
  const rows = useMemo(() => rowsOf(fleet.value?.rows ?? [], healthOf(status.value?.sources ?? [])), [fleet.value, status.value]);
  const shown = useMemo(() => sorted(rows, sort.id, sort.isDescending), [rows, sort.id, sort.isDescending]);
  const nowMs = fleet.value?.nowMs ?? Date.now();
  const isOnlySelf = !filter && shown.every((row) => row.service === SELF_SERVICE);

  useKeys([
    { keys: "/", group: "Fleet", what: "Filter services by name", run: () => filterField.current?.focus() },
    { keys: "r", group: "Fleet", what: "Ask again", run: fleet.retry },
  ]);

  if (fleet.value && !fleet.isStale && isOnlySelf && !fleet.error) {
    return <div class="view"><Nothing filter="" onArrived={() => setArrivals((n) => n + 1)} />{shown.length > 0 && range.from !== defaultRange.from && <RangeBar range={range} />}</div>;
  }
  return (
    <div class="view">
      <h1 class="visually-hidden">Fleet</h1>
      <div class="row">
        <input
          ref={filterField}
          class="field fleet-filter"
          type="search"
          placeholder="Filter services"
          aria-label="Filter services by a part of the name"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <RangeBar range={range} />
        <label class="row fleet-sort">
          <span class="muted">Sort by</span>
          <select class="field" value={sort.id} onChange={(event) => setSort({ id: event.currentTarget.value, isDescending: isDescendingAtFirst(event.currentTarget.value as SortId) })}>
            {Object.entries(sorts).map(([id, text]) => <option key={id} value={id}>{text}</option>)}
          </select>
        </label>
      </div>
      {fleet.error !== undefined && <Failure error={fleet.error} retry={fleet.retry} />}
      {fleet.value && <p class="muted" role="status">{summaryOf(fleet.value, shown)}{fleet.isStale ? " Asking again…" : ""}</p>}
      {status.error !== undefined && <p class="muted">When the last profiles came cannot be told: {String((status.error as Error).message)}</p>}
      <div class={fleet.isStale ? "card fleet-table stale" : "card fleet-table"}>
        {!fleet.value && fleet.isLoading && <Loading what="Asking for all services" />}
        {fleet.value && shown.length === 0 && !fleet.isStale && <Nothing filter={filter} onArrived={() => setArrivals((n) => n + 1)} />}
        {shown.length > 0 && <Services rows={shown} sort={sort} range={range} nowMs={nowMs} />}
      </div>
    </div>
  );
}

/** The table, with the columns that there is room for. */
function Services({ rows, sort, range, nowMs }: { rows: readonly ServiceRow[]; sort: Sort; range: TimeRange; nowMs: number }) {
  const [ref, { width }] = useSize<HTMLDivElement>();
  return (
    <div ref={ref}>
      {width > 0 && (
        <VirtualTable
          label="Services"
          columns={columnsOf(width, range, nowMs)}
          rows={rows}
          keyOf={(row) => row.service}
          sort={sort}
          onSort={setSort}
          rowHeight={ROW_HEIGHT}
          height={`min(${(rows.length + 1) * ROW_HEIGHT + 2}px, max(20em, calc(100vh - 170px)))`}
          onOpen={(row) => navigate({ view: "explore", params: { query: rowQuery(row), from: range.from, until: range.until } })}
        />
      )}
    </div>
  );
}

function RangeBar({ range }: { range: TimeRange }) {
  const isDefault = (one: TimeRange) => one.from === defaultRange.from && one.until === defaultRange.until;
  return <TimeRangePicker range={range} onChange={(next) => navigate({ params: isDefault(next) ? { from: null, until: null } : { from: next.from, until: next.until } })} />;
}
