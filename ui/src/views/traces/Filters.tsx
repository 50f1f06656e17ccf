// SPDX-License-Identifier: Apache-2.0
// What a trace must have to be found.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Operation } from "../../api/traces.ts";
import { Button } from "../../components/basics.tsx";
import { Combobox, type Choice } from "../../components/Combobox.tsx";
import { TimeRangePicker } from "../../components/TimeRangePicker.tsx";
import { formatCount, formatDuration, shortened } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { useTyped } from "../../lib/typed.ts";
import { changeSearch, isDuration, parsePair, printAttributes, rangeParams, withAttribute, type SearchState } from "./state.ts";

function spansText(n: number): string {
  return `${formatCount(n)} ${n === 1 ? "span" : "spans"}`;
}

/** Services by how many spans they have; "" first, which is all of them. */
function serviceChoices(operations: readonly Operation[]): Choice[] {
  const counts = new Map<string, number>();
  for (const one of operations) counts.set(one.service, (counts.get(one.service) ?? 0) + one.n_spans);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return [{ value: "", text: "All services" }, ...sorted.map(([value, n]) => ({ value, hint: spansText(n) }))];
}

function operationChoices(operations: readonly Operation[], service: string): Choice[] {
  const named = new Map<string, Operation>();
  for (const one of operations) if ((!service || one.service === service) && !named.has(one.operation)) named.set(one.operation, one);
  const sorted = [...named.values()].sort((a, b) => b.n_spans - a.n_spans);
  return [{ value: "", text: "All operations" }, ...sorted.map((one) => ({ value: one.operation, hint: `${spansText(one.n_spans)}, p95 ${formatDuration(one.p95_ns)}` }))];
}

function DurationField({ label, name, value, tell }: { label: string; name: "min" | "max"; value: string; tell: (wrong: string) => void }) {
  const [typed, setTyped] = useTyped(value, (text) => {
    if (!isDuration(text.trim())) return;
    tell("");
    changeSearch({ [name]: text.trim() || null }, "replace");
  });
  return (
    <input
      class="field traces-duration"
      aria-label={label}
      aria-invalid={!isDuration(typed.trim())}
      title={`${label}, such as 10ms, 1.5s or 2m`}
      placeholder={name === "min" ? "at least" : "at most"}
      autocomplete="off"
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => {
        const text = event.currentTarget.value.trim();
        tell(isDuration(text) ? "" : `“${shortened(text, 40)}” is no duration. Write one like 10ms, 1.5s or 2m.`);
      }}
    />
  );
}

/** A field for one more attribute, taken over by Enter. */
function AttributeField({ state, tell }: { state: SearchState; tell: (wrong: string) => void }) {
  const [text, setText] = useState("");
  const pair = parsePair(text);
  return (
    <form
      class="traces-attribute"
      onSubmit={(event) => {
        event.preventDefault();
        tell(pair || text === "" ? "" : `“${shortened(text, 40)}” is no attribute with a value. Write one like http.route=/cart.`);
        if (!pair) return;
        changeSearch({ attributes: printAttributes(withAttribute(state.attributes, pair.name, pair.value)) });
        setText("");
      }}
    >
      <input
        class="field"
        aria-label="Attribute = value; Enter adds it"
        title="An attribute of a span or of its resource, such as http.route=/cart. Enter adds it."
        placeholder="attribute=value"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        aria-invalid={text !== "" && !pair}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {pair && <button type="submit" class="button">Add</button>}
    </form>
  );
}

/** What narrows the search beside the fields, each with a way to take it away. */
function Chips({ state }: { state: SearchState }) {
  const chips = state.attributes.map(({ name, value }) => ({
    text: `${name} = ${value}`,
    remove: () => changeSearch({ attributes: printAttributes(state.attributes.filter((one) => one.name !== name)) }),
  }));
  if (state.function) {
    chips.push({ text: `through a function like ${state.function}, in ${state.query}`, remove: () => changeSearch({ function: null, query: null }) });
  }
  if (chips.length === 0) return null;
  return (
    <ul class="row narrowings" aria-label="Only traces with">
      {chips.map(({ text, remove }) => (
        <li key={text} class="chip condition">
          <bdi class="clip mono" title={shortened(text, 2000)}>{shortened(text, 120)}</bdi>
          <button type="button" aria-label={`Remove: ${shortened(text, 120)}`} title="Remove" onClick={remove}>✕</button>
        </li>
      ))}
    </ul>
  );
}

export function Filters({ state, operations, isLoading, onAgain }: {
  state: SearchState;
  operations: readonly Operation[];
  isLoading: boolean;
  onAgain: () => void;
}) {
  const services = useMemo(() => serviceChoices(operations), [operations]);
  const named = useMemo(() => operationChoices(operations, state.service), [operations, state.service]);
  const [wrong, setWrong] = useState("");
  const bar = useRef<HTMLDivElement>(null);
  useKeys([
    { keys: "/", group: "Traces", what: "Choose a service", run: () => bar.current?.querySelector("input")?.focus() },
    { keys: "x", group: "Traces", what: "Errors only, or all", run: () => changeSearch({ errors: state.isError ? null : "1" }) },
    { keys: "o", group: "Traces", what: "Slowest or newest first", run: () => changeSearch({ order: state.order === "newest" ? "slowest" : null }) },
  ]);
  const setService = (service: string) => {
    const isKept = operations.some((one) => one.operation === state.operation && (!service || one.service === service));
    changeSearch({ service: service || null, ...(isKept ? {} : { operation: null }) });
  };
  return (
    <div class="stack traces-filters">
      <div class="row" ref={bar}>
        <Combobox label="Service" value={state.service} shown={state.service || "All services"} choices={services} isLoading={isLoading} isFree onChange={setService} />
        <Combobox
          label="Operation" value={state.operation} shown={state.operation || "All operations"} choices={named} isLoading={isLoading} isFree
          onChange={(operation) => changeSearch({ operation: operation || null })}
        />
        <span class="row traces-durations" role="group" aria-label="Duration">
          <span class="muted">Duration</span>
          <DurationField label="Duration at least" name="min" value={state.min} tell={setWrong} />
          <DurationField label="Duration at most" name="max" value={state.max} tell={setWrong} />
        </span>
        <Button isPressed={state.isError} onClick={() => changeSearch({ errors: state.isError ? null : "1" })}>Errors only</Button>
        <AttributeField state={state} tell={setWrong} />
        <span class="spread" />
        <TimeRangePicker range={{ from: state.from, until: state.until }} onChange={(next) => changeSearch(rangeParams(next))} />
        <Button label="Ask again" onClick={onAgain}>↻</Button>
      </div>
      {wrong && <p class="traces-wrong" role="alert">{wrong}</p>}
      <Chips state={state} />
    </div>
  );
}
