// SPDX-License-Identifier: Apache-2.0
// The operations of a time: how often, how slow, how many failed. A click searches their traces.

import { useMemo, useState } from "preact/hooks";
import type { Operation } from "../../api/traces.ts";
import { useSize } from "../../components/basics.tsx";
import { VirtualTable, type Column, type Sort } from "../../components/VirtualTable.tsx";
import { formatCount, formatDuration, formatNumber, formatShare } from "../../lib/format.ts";
import { navigate, route, urlOf } from "../../lib/route.ts";
import { Foreign, ServiceName } from "./parts.tsx";
import type { SearchState } from "./state.ts";

const ROW_HEIGHT = 30;

const values: Record<string, (one: Operation) => number | string> = {
  operation: (one) => one.operation, service: (one) => one.service, count: (one) => one.n_spans, errors: (one) => one.n_errors / one.n_spans,
  p50: (one) => one.p50_ns, p95: (one) => one.p95_ns, p99: (one) => one.p99_ns, max: (one) => one.max_ns, total: (one) => one.total_ns,
};

export function sortedOperations(operations: readonly Operation[], { id, isDescending }: Sort): Operation[] {
  const value = values[id] ?? values.total;
  const sign = isDescending ? -1 : 1;
  return [...operations].sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    return left < right ? -sign : left > right ? sign : 0;
  });
}

function searchUrl(one: Operation): string {
  const params = new Map(route.value.params);
  params.delete("rows");
  return urlOf("traces", params.set("service", one.service).set("operation", one.operation).set("order", "slowest"));
}

function durationColumn(id: string, title: string, hint: string): Column<Operation> {
  return { id, title, hint, isNumber: true, isSortable: true, width: "5.5em", cell: (one) => formatDuration(Number(values[id](one))) };
}

function columnsOf(width: number, hasService: boolean): Column<Operation>[] {
  const operation: Column<Operation> = {
    id: "operation", title: "Operation", isSortable: true, width: "minmax(9em, 2fr)",
    cell: (one) => <a href={searchUrl(one)}><Foreign text={one.operation || "(no name)"} /></a>,
  };
  const service: Column<Operation> = { id: "service", title: "Service", isSortable: true, width: "minmax(6em, 1fr)", cell: (one) => <ServiceName name={one.service} /> };
  const count: Column<Operation> = { id: "count", title: "Spans", isNumber: true, isSortable: true, width: "5em", cell: (one) => formatCount(one.n_spans) };
  const errors: Column<Operation> = {
    id: "errors", title: "Errors", hint: "The share of spans that failed.", isNumber: true, isSortable: true, width: "5em",
    cell: (one) => (one.n_errors === 0 ? <span class="muted">0</span> : <span class="traces-bad" title={`${formatNumber(one.n_errors)} spans`}>{formatShare(one.n_errors / one.n_spans)}</span>),
  };
  const p50 = durationColumn("p50", "p50", "Half of the spans took longer.");
  const p95 = durationColumn("p95", "p95", "One in twenty took longer.");
  const p99 = durationColumn("p99", "p99", "One in a hundred took longer.");
  const max = durationColumn("max", "Slowest", "The longest of all.");
  const total = durationColumn("total", "In all", "All durations added up.");
  const services = hasService ? [] : [service];
  if (width < 560) return [{ ...operation, width: "minmax(7em, 1fr)" }, p95, { ...errors, width: "4.5em" }];
  if (width < 820) return [operation, ...services, count, errors, p50, p95];
  return [operation, ...services, count, errors, p50, p95, p99, max, total];
}

export function Operations({ answer, state }: { answer: { operations: Operation[]; is_cut: boolean }; state: SearchState }) {
  const [ref, { width }] = useSize<HTMLDivElement>();
  const [sort, setSort] = useState<Sort>({ id: "total", isDescending: true });
  const rows = useMemo(
    () => sortedOperations(answer.operations.filter((one) => !state.service || one.service === state.service), sort),
    [answer, state.service, sort],
  );
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-label="Operations">
      <header>
        <h2>Which operation is slow?</h2>
        <span class="muted">{formatNumber(rows.length)} {rows.length === 1 ? "operation" : "operations"}{answer.is_cut ? ", of those with the most time" : ""}</span>
      </header>
      <div ref={ref} class="traces-table">
        {width > 0 && (
          <VirtualTable
            label="Operations"
            columns={columnsOf(width, state.service !== "")}
            rows={rows}
            keyOf={(one) => `${one.service}\0${one.operation}`}
            sort={sort}
            onSort={setSort}
            rowHeight={ROW_HEIGHT}
            height={`min(${(rows.length + 1) * ROW_HEIGHT + 2}px, max(12em, 36vh))`}
            onOpen={(one) => navigate({ params: { service: one.service, operation: one.operation, order: "slowest", rows: null } })}
          />
        )}
      </div>
    </section>
  );
}
