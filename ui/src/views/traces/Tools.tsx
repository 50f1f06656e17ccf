// SPDX-License-Identifier: Apache-2.0
// What can be done with a waterfall: searching it, closing it, marking errors and the critical path; and what its bars mean.

import { useRef } from "preact/hooks";
import { Button } from "../../components/basics.tsx";
import { formatNumber } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { navigate, route } from "../../lib/route.ts";
import { useTyped } from "../../lib/typed.ts";
import { partHints, partKinds, partTitles } from "./bars.ts";
import type { SpanTree } from "./spans.ts";

function useSwitch(name: string): [boolean, () => void] {
  const isOn = route.value.params.get(name) === "1";
  return [isOn, () => navigate({ params: { [name]: isOn ? null : "1" } }, "replace")];
}

export function Tools({ tree, hits, isZoomed, isAllClosed, onStep, onWhole }: {
  tree: SpanTree;
  hits: readonly number[] | null;
  isZoomed: boolean;
  isAllClosed: boolean;
  onStep: (direction: 1 | -1) => void;
  onWhole: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useTyped(route.value.params.get("find") ?? "", (text) => navigate({ params: { find: text } }, "replace"));
  const [showsErrors, toggleErrors] = useSwitch("errors");
  const [showsPath, togglePath] = useSwitch("path");
  const closeAll = (isClosed: boolean) => navigate({ params: { closed: isClosed ? `all,${tree.spans[0]?.span_id ?? ""}` : null } }, "replace");
  const hasErrors = tree.spans.some((span) => span.status === "error");
  const hasOffCpu = tree.spans.some((span) => span.latency.off_cpu_ns !== null);
  useKeys([
    { keys: "f", group: "Trace", what: "Find spans", run: () => field.current?.select() },
    { keys: "p", group: "Trace", what: "Mark the critical path", run: togglePath },
    { keys: "x", group: "Trace", what: "Mark errors", run: toggleErrors },
    { keys: "Arrows", group: "Trace", what: "Walk from span to span; left and right close and open" },
    { keys: "Enter", group: "Trace", what: "The flame graph of the chosen span" },
    { keys: "+", group: "Trace", what: "Zoom in, − zooms out, 0 shows all" },
    { keys: "z", group: "Trace", what: "Zoom to the chosen span" },
  ]);
  return (
    <div class="waterfall-tools">
      <input
        ref={field}
        class="field"
        type="search"
        placeholder="Find spans"
        aria-label="Find spans by name, attribute or id; Enter goes to the next"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          onStep(event.shiftKey ? -1 : 1);
        }}
      />
      {hits && (
        <>
          <span role="status" class="number">{formatNumber(hits.length)} {hits.length === 1 ? "span" : "spans"}</span>
          <Button kind="quiet" label="Previous one found" disabled={hits.length === 0} onClick={() => onStep(-1)}>↑</Button>
          <Button kind="quiet" label="Next one found" disabled={hits.length === 0} onClick={() => onStep(1)}>↓</Button>
        </>
      )}
      {(hasErrors || showsErrors) && <Button isPressed={showsErrors} onClick={toggleErrors}>Errors</Button>}
      <Button isPressed={showsPath} title="The spans that the whole trace waited for" onClick={togglePath}>Critical path</Button>
      <Button onClick={() => closeAll(!isAllClosed)}>{isAllClosed ? "Open all" : "Close all"}</Button>
      {isZoomed && <Button onClick={onWhole}>Whole time</Button>}
      <span class="spread" />
      <ul class="bar-legend" aria-label="What bars are made of">
        {partKinds.filter((kind) => kind !== "off-cpu" || hasOffCpu).map((kind) => (
          <li key={kind} title={partHints[kind]}><span class={`bar-part ${kind} legend-swatch`} aria-hidden="true" />{partTitles[kind]}</li>
        ))}
      </ul>
    </div>
  );
}
