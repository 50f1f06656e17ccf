// SPDX-License-Identifier: Apache-2.0
// A trace as a whole, while no span is chosen: for which service it waited, and which spans took most of the time themselves.

import { useMemo } from "preact/hooks";
import type { Trace } from "../../api/traces.ts";
import { formatDuration, formatNumber, formatShare } from "../../lib/format.ts";
import { navigate } from "../../lib/route.ts";
import { colourVariable } from "../../lib/services.ts";
import { Foreign, ServiceName } from "./parts.tsx";
import type { SpanTree, Stretch } from "./spans.ts";

const N_SPANS = 6;

/** Sums of the critical path by what `keyOf` says, largest first. */
export function waitedFor<K>(path: readonly Stretch[], keyOf: (span: number) => K): [K, number][] {
  const sums = new Map<K, number>();
  for (const { span, fromNs, untilNs } of path) sums.set(keyOf(span), (sums.get(keyOf(span)) ?? 0) + untilNs - fromNs);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

export function Overview({ trace, tree, path, onSelect }: {
  trace: Trace;
  tree: SpanTree;
  path: readonly Stretch[];
  onSelect: (span: number) => void;
}) {
  const total = path.reduce((sum, one) => sum + one.untilNs - one.fromNs, 0) || 1;
  const byService = useMemo(() => new Map(waitedFor(path, (span) => tree.spans[span].service)), [path]);
  const spans = useMemo(() => waitedFor(path, (span) => span).slice(0, N_SPANS), [path]);
  const cpu = useMemo(() => {
    const sums = new Map<string, number>();
    for (const span of tree.spans) sums.set(span.service, (sums.get(span.service) ?? 0) + span.latency.cpu_ns);
    return sums;
  }, [tree]);
  return (
    <aside class="card span-details" aria-label="The trace as a whole">
      <header><h2>Where the time went</h2></header>
      <div class="inside stack">
        <table class="overview-services">
          <thead><tr><th scope="col">Service</th><th scope="col" class="number">Spans</th><th scope="col" class="number">CPU</th><th scope="col" class="number">Waited for</th></tr></thead>
          <tbody>
            {trace.services.slice(0, 30).map((one) => (
              <tr key={one.name}>
                <td><button type="button" class="link" title="Find its spans" onClick={() => navigate({ params: { find: one.name } }, "replace")}><ServiceName name={one.name} /></button></td>
                <td class="number">{formatNumber(one.n_spans)}</td>
                <td class="number">{cpu.get(one.name) ? formatDuration(cpu.get(one.name)!) : "–"}</td>
                <td class="number">{formatShare((byService.get(one.name) ?? 0) / total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <h3>Spans that the trace waited for</h3>
        <ol class="overview-spans">
          {spans.map(([span, ns]) => (
            <li key={span}>
              <button type="button" class="link" onClick={() => onSelect(span)}><Foreign text={tree.spans[span].operation || "(no name)"} max={80} class="clip" /></button>
              <span class="number">{formatDuration(ns)}</span>
              <span class="overview-bar" aria-hidden="true"><span style={{ width: `${(100 * ns) / total}%`, background: colourVariable(tree.spans[span].service) }} /></span>
            </li>
          ))}
        </ol>
        <p class="muted">Choose a span to see what it did. Enter shows its flame graph.</p>
      </div>
    </aside>
  );
}
