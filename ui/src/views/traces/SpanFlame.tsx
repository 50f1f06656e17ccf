// SPDX-License-Identifier: Apache-2.0
// The flame graph of a span, below the waterfall: of it alone, with the spans below it, or of all spans of its operation.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { commandOf, curlOf, exportUrl, getFlame, getLines, type Question } from "../../api/flame.ts";
import type { Trace } from "../../api/traces.ts";
import { Button, Empty, Failure, Loading, Segmented } from "../../components/basics.tsx";
import { exactly } from "../../components/panel/patterns.ts";
import { ProfilePanel, type ProfileSource } from "../../components/panel/ProfilePanel.tsx";
import { useResource } from "../../lib/resource.ts";
import { navigate, route, urlOf, type Params } from "../../lib/route.ts";
import { isReduced } from "../../lib/theme.ts";
import { Foreign } from "./parts.tsx";
import { exploreUrl, questionFor, samplesOf, scopes, slowFastUrl, timesFor, typeName, type Scope } from "./profiles.ts";
import type { SpanTree } from "./spans.ts";

/** Parameters of the panel's own place in a graph; another graph has others. */
const place: Params = { zoom: null, sel: null, focus: null, fn: null };
export const closeFlame: Params = { ...place, flame: null, type: null };

export function openFlame(scope: Scope, type: string | null = null): void {
  navigate({ params: { ...place, flame: scope, type } });
}

function scopeOf(text: string | undefined): Scope | null {
  return scopes.find((one) => one === text) ?? null;
}

function sourceOf(question: Question, title: string, around: { from: string; until: string }): ProfileSource {
  return {
    kind: "query",
    title,
    focus: async (path, signal) => (await getFlame(question, signal, path)).tree,
    exportUrl: (format, path) => exportUrl(question, format, path),
    curl: () => curlOf(question),
    command: () => commandOf(question),
    lines: (functionName, signal) => getLines(question, functionName, signal),
    tracesUrl: (functionName) => urlOf("traces", { query: question.query, function: exactly(functionName), order: "slowest", ...around }),
  };
}

/** Scrolls just so far that most of the screen is the element's; what is above it stays in sight as far as that goes. */
function bringIntoSight(element: HTMLElement): void {
  const box = element.getBoundingClientRect();
  const hidden = box.top + Math.min(box.height, innerHeight * 0.62) - innerHeight;
  if (hidden > 0) scrollBy({ top: hidden, behavior: isReduced.peek() ? "auto" : "smooth" });
}

export function SpanFlame({ trace, tree, span }: { trace: Trace; tree: SpanTree; span: number }) {
  const { params } = route.value;
  const scope = scopeOf(params.get("flame"));
  if (scope === null) return null;
  return <Shown trace={trace} tree={tree} span={span} scope={scope} wanted={params.get("type") ?? ""} />;
}

const scopeChoices = [
  { value: "own" as const, text: "This span alone", title: "Samples that carry the id of this span" },
  { value: "root" as const, text: "With the spans below", title: "And those of the spans below it in the same service" },
  { value: "operation" as const, text: "All of this operation", title: "Samples of all spans of this name and of the spans below them in the same service, half an hour before and after" },
];

function Shown({ trace, tree, span, scope, wanted }: { trace: Trace; tree: SpanTree; span: number; scope: Scope; wanted: string }) {
  const one = tree.spans[span];
  const section = useRef<HTMLElement>(null);
  const types = useMemo(() => samplesOf(tree, span, scope).map((sample) => sample.type), [tree, span, scope]);
  const type = wanted && (types.includes(wanted) || types.length === 0) ? wanted : (types[0] ?? "");
  const question = questionFor(trace, one, scope, type);
  const key = JSON.stringify(question);
  const flame = useResource(key, (signal) => getFlame(question, signal));
  const source = useMemo(() => sourceOf(question, `${one.service} ${one.operation}`, timesFor(trace, one, "operation")), [key]);
  const hasCome = flame.value !== undefined;
  useEffect(() => {
    if (hasCome && section.current) bringIntoSight(section.current);
  }, [hasCome]);

  const isNothing = flame.value !== undefined && !flame.isStale && flame.value.tree.totals[0] === 0 && flame.value.tree.n <= 1;
  return (
    <section class="span-flame stack" ref={section} aria-label="Flame graph of the span">
      <div class="row">
        <h2 class="clip">Flame graph: <Foreign text={one.operation || "(no name)"} max={80} /></h2>
        <Segmented label="Of what" value={scope} choices={scopeChoices} onChange={(next) => openFlame(next, wanted || null)} />
        {types.length > 1 && (
          <select class="field" aria-label="Profile type" value={type} onChange={(event) => openFlame(scope, event.currentTarget.value)}>
            {types.map((other) => <option key={other} value={other}>{typeName(other)}</option>)}
          </select>
        )}
        <span class="spread" />
        <a class="button" href={slowFastUrl(trace, one, type)}>Slow against fast</a>
        <a class="button" href={exploreUrl(question)}>Open in Explore</a>
        <Button label="Close the flame graph" kind="quiet" onClick={() => navigate({ params: closeFlame })}>✕</Button>
      </div>
      {flame.error !== undefined && <Failure error={flame.error} retry={flame.retry} />}
      {!flame.value && flame.isLoading && <section class="card"><Loading what="Loading the flame graph" /></section>}
      {flame.value && !isNothing && flame.value.messages.length > 0 && <ul class="messages muted" aria-label="What the server says">{flame.value.messages.map(({ text }) => <li key={text}>{text}</li>)}</ul>}
      {isNothing && <section class="card"><NoSamples scope={scope} /></section>}
      {flame.value && !isNothing && (
        <div class={flame.isStale ? "stale" : ""} aria-busy={flame.isLoading}>
          <ProfilePanel tree={flame.value.tree} source={source} height="max(24rem, 60vh)" />
        </div>
      )}
    </section>
  );
}

function NoSamples({ scope }: { scope: Scope }) {
  return (
    <Empty title={scope === "own" ? "No samples of this span alone" : "No samples"}>
      <p>
        {scope === "own"
          ? "Profiles look at a program only now and then, and a short span may pass between two looks. The spans below it or others of its operation may have samples."
          : "No profile has samples with the ids of these spans. Senders must link samples to spans: OTLP profiles do so by links, Pyroscope's SDKs by their span profiles."}
      </p>
      <div class="row">
        {scope === "own" && <Button onClick={() => openFlame("root")}>With the spans below</Button>}
        {scope !== "operation" && <Button onClick={() => openFlame("operation")}>All of this operation</Button>}
      </div>
    </Empty>
  );
}
