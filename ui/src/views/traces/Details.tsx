// SPDX-License-Identifier: Apache-2.0
// What is known about a span: where its time went, its profiles, attributes, events, links, and where it ran.

import type { ComponentChildren } from "preact";
import type { Attribute, Span, Trace } from "../../api/traces.ts";
import { Button, copyText } from "../../components/basics.tsx";
import { formatCount, formatDuration, formatNumber, formatShare, formatValue } from "../../lib/format.ts";
import { navigate, urlOf, type Params } from "../../lib/route.ts";
import { colourVariable } from "../../lib/services.ts";
import { partHints, partsOf, partTitles } from "./bars.ts";
import { Foreign, ServiceName } from "./parts.tsx";
import { firstScope, samplesOf, slowFastUrl, sortedSamples, typeName } from "./profiles.ts";
import { openFlame } from "./SpanFlame.tsx";
import { nBelow, valueText, type SpanTree } from "./spans.ts";
import { printAttributes, timesAround } from "./state.ts";

function LatencyBar({ span }: { span: Span }) {
  const parts = partsOf(span).filter(({ kind, ns }) => ns > 0 || (kind === "off-cpu" && span.latency.off_cpu_ns !== null));
  return (
    <div class="latency" style={{ "--service": colourVariable(span.service) }}>
      <div class="latency-bar" aria-hidden="true">
        {parts.map(({ kind, ns }) => <span key={kind} class={`bar-part ${kind}`} style={{ flexGrow: String(ns / Math.max(1, span.duration_ns)) }} />)}
      </div>
      <dl>
        {parts.map(({ kind, ns }) => (
          <div key={kind} title={partHints[kind]}>
            <dt><span class={`bar-part ${kind} legend-swatch`} aria-hidden="true" />{partTitles[kind]}</dt>
            <dd class="number">{formatDuration(ns)} <span class="muted">{formatShare(ns / Math.max(1, span.duration_ns))}</span></dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Attributes, each a way to the traces that have the same; without `times`, of an event or a link, which searches do not look at. */
function Attributes({ list, times }: { list: readonly Attribute[]; times?: Params }) {
  return (
    <dl class="attributes">
      {list.map(({ key, value }, i) => {
        const text = valueText(value);
        return (
          <div key={`${i} ${key}`}>
            <dt><Foreign text={key} max={120} /></dt>
            <dd>
              <Foreign text={text} max={1000} class="mono" />
              {times && <a class="attribute-find" href={urlOf("traces", { attributes: printAttributes([{ name: key, value: text }]), ...times })} aria-label={`Find traces with ${key.slice(0, 80)} of this value`} title="Find traces with this value">⌕</a>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Part({ title, children, isOpen = true }: { title: string; children: ComponentChildren; isOpen?: boolean }) {
  return (
    <details class="details-part" open={isOpen}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function Profiles({ trace, tree, span }: { trace: Trace; tree: SpanTree; span: number }) {
  const one = tree.spans[span];
  const samples = sortedSamples(one.samples);
  const below = samplesOf(tree, span, "root");
  return (
    <div class="stack details-profiles">
      <div class="row">
        <Button kind="main" disabled={below.length === 0} onClick={() => openFlame(firstScope(tree, span))}>Flame graph of this span</Button>
        <Button onClick={() => openFlame("operation")}>Of this operation</Button>
        <a class="button" href={slowFastUrl(trace, one, samples[0]?.type ?? below[0]?.type ?? "")}>Slow against fast</a>
      </div>
      {samples.length > 0 && (
        <ul class="samples" aria-label="Samples of this span">
          {samples.map((sample) => (
            <li key={sample.type}>
              <button type="button" class="link" title={sample.type} onClick={() => openFlame("own", sample.type)}>{typeName(sample.type)}</button>
              <span class="number">{formatValue(sample.value, sample.unit)}</span>
              <span class="muted number">{formatCount(sample.n_samples)} {sample.n_samples === 1 ? "sample" : "samples"}</span>
            </li>
          ))}
        </ul>
      )}
      {samples.length === 0 && <p class="muted">{below.length > 0 ? "Its own samples: none. The spans below it have some." : "No profile has samples of this span."}</p>}
    </div>
  );
}

function Events({ span }: { span: Span }) {
  return (
    <Part title={`Events (${formatNumber(span.events.length)})`}>
      <ol class="span-events">
        {span.events.slice(0, 200).map((event, i) => (
          <li key={i}>
            <span class="number muted">+{formatDuration(event.offset_ns - span.offset_ns)}</span> <Foreign text={event.name || "(no name)"} />
            {event.attributes.length > 0 && <Attributes list={event.attributes} />}
          </li>
        ))}
      </ol>
      {span.events.length > 200 && <p class="muted">The first 200 are shown.</p>}
    </Part>
  );
}

function Links({ span }: { span: Span }) {
  return (
    <Part title={`Links (${formatNumber(span.links.length)})`}>
      <ul class="span-events">
        {span.links.slice(0, 200).map((link, i) => (
          <li key={i}>
            <a class="mono" href={urlOf("traces", { span: link.span_id }, link.trace_id)}>{link.trace_id.slice(0, 8)}… {link.span_id}</a>
            {link.attributes.length > 0 && <Attributes list={link.attributes} />}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Facts({ tree, span, onSelect }: { tree: SpanTree; span: number; onSelect: (span: number) => void }) {
  const one = tree.spans[span];
  const parent = tree.parent[span];
  return (
    <dl class="span-facts">
      <div><dt>Took</dt><dd>{formatDuration(one.duration_ns)}, from {formatDuration(one.offset_ns)} on</dd></div>
      <div><dt>Kind</dt><dd>{one.kind}</dd></div>
      {parent >= 0 && <div><dt>Called by</dt><dd class="clip"><button type="button" class="link" onClick={() => onSelect(parent)}><Foreign text={tree.spans[parent].operation || "(no name)"} max={80} /></button></dd></div>}
      {one.is_orphan && <div><dt>Called by</dt><dd>span <span class="mono">{one.parent_id}</span>, which is not here: it has not arrived, or was not sampled</dd></div>}
      {nBelow(tree, span) > 0 && <div><dt>Below it</dt><dd>{formatNumber(nBelow(tree, span))} {nBelow(tree, span) === 1 ? "span" : "spans"}</dd></div>}
      {one.scope && <div><dt>Library</dt><dd><Foreign text={one.scope} /></dd></div>}
      <div><dt>Span id</dt><dd><span class="mono">{one.span_id}</span> <button type="button" class="link" onClick={() => void copyText(one.span_id, "The span id is")}>Copy</button></dd></div>
    </dl>
  );
}

export function Details({ trace, tree, span, onSelect }: { trace: Trace; tree: SpanTree; span: number; onSelect: (span: number) => void }) {
  const one = tree.spans[span];
  const resource = trace.resources[one.resource];
  const times = timesAround(trace.start_ns / 1e6, Date.now());
  return (
    <aside class="card span-details" aria-label="The chosen span">
      <header>
        <h2 class="spread"><Foreign text={one.operation || "(no name)"} max={160} /></h2>
        <Button kind="quiet" label="Close the details" onClick={() => onSelect(-1)}>✕</Button>
      </header>
      <div class="inside stack">
        <div class="row">
          <a href={urlOf("traces", { service: one.service, ...times })}><ServiceName name={one.service} /></a>
          {one.status === "error" && <span class="chip bad">Failed</span>}
          {one.status === "ok" && <span class="chip good">OK</span>}
        </div>
        {one.message && <p class="span-message"><Foreign text={one.message} max={2000} /></p>}
        <LatencyBar span={one} />
        <Profiles trace={trace} tree={tree} span={span} />
        <Facts tree={tree} span={span} onSelect={onSelect} />
        {one.events.length > 0 && <Events span={one} />}
        {one.attributes.length > 0 && <Part title={`Attributes (${formatNumber(one.attributes.length)})`}><Attributes list={one.attributes} times={times} /></Part>}
        {one.n_dropped_attributes > 0 && <p class="muted">{formatNumber(one.n_dropped_attributes)} more attributes were left out by the sender or the server.</p>}
        {one.links.length > 0 && <Links span={one} />}
        {resource && resource.attributes.length > 0 && <Part title={`Resource (${formatNumber(resource.attributes.length)})`} isOpen={false}><Attributes list={resource.attributes} times={times} /></Part>}
        <div><Button kind="quiet" onClick={() => navigate({ view: "traces", params: { service: one.service, operation: one.operation, order: "slowest", ...times } })}>Slowest traces with this operation</Button></div>
      </div>
    </aside>
  );
}
