// SPDX-License-Identifier: Apache-2.0
// The query as text, completed at the cursor: services before the braces, names of labels and their values within.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { getLabels, getLabelValues, getServices, getTypes } from "../api/census.ts";
import {
  completed,
  completionAt,
  operators,
  parseQuery,
  selectorOf,
  shortType,
  type Completion,
} from "../lib/query.ts";
import { formatCount } from "../lib/format.ts";
import { useResource } from "../lib/resource.ts";
import type { TimeRange } from "../lib/time.ts";
import { ChoiceList, narrowed, stepInList, type Choice } from "./Combobox.tsx";

const nOffered = 2000;

/** How many series have a value; labels of samples make none. */
export function seriesHint(series: number | null): string {
  return series === null ? "of samples" : `${formatCount(series)} series`;
}

/** What is before the condition that is being written, as far as it can be read: it narrows what is offered. */
function readableUpTo(text: string, end: number): string {
  const before = text.slice(0, end).replace(/,\s*$/, "");
  for (const candidate of [before, `${before}}`]) {
    const parts = parseQuery(candidate);
    if (parts) return selectorOf(parts);
  }
  return "";
}

async function frontChoices(typed: string, range: TimeRange): Promise<Choice[]> {
  const services = await getServices(range);
  const dot = typed.lastIndexOf(".");
  const service = dot > 0 ? typed.slice(0, dot) : "";
  const choices = narrowed(
    services.map((one) => ({ value: one.value, hint: seriesHint(one.series) })),
    typed,
  );
  if (!services.some((one) => one.value === service)) return [...choices];
  const types = await getTypes(
    selectorOf({ front: "", conditions: [{ name: "service_name", operator: "=", value: service }] }),
    range,
  );
  const withTypes = types.map((one) => ({ value: `${service}.${shortType(one.type)}`, hint: seriesHint(one.series) }));
  return [...choices, ...narrowed(withTypes, typed)];
}

async function choicesFor(at: Completion, text: string, range: TimeRange): Promise<Choice[]> {
  if (at.kind === "front") return frontChoices(at.typed, range);
  if (at.kind === "operator") return operators.map((value) => ({ value }));
  if (at.kind === "name") {
    const names = (await getLabels(readableUpTo(text, at.start), range)).map((value) => ({ value }));
    return [...narrowed(names, at.typed.replace(/^["'`]/, ""))];
  }
  const selectorOfOthers = readableUpTo(text, text.lastIndexOf(at.name, at.start));
  const values = await getLabelValues(at.name, selectorOfOthers, range);
  return [
    ...narrowed(
      values.map((one) => ({ value: one.value, hint: seriesHint(one.series) })),
      at.typed,
    ),
  ];
}

export function QueryText({
  query,
  range,
  label,
  isWrong,
  describedBy,
  onChange,
}: {
  query: string;
  range: TimeRange;
  label: string;
  isWrong: boolean;
  describedBy: string | undefined;
  onChange: (query: string) => void;
}) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(query);
  const [cursor, setCursor] = useState<number | null>(null); // null: nothing is offered
  const [active, setActive] = useState(-1);
  useEffect(() => setText(query), [query]);

  const at = cursor === null ? null : completionAt(text, cursor);
  const key = at && `${at.kind}|${at.start}|${at.name}|${at.typed}|${text.slice(0, at.start)}`;
  const offers = useResource(key, () => choicesFor(at!, text, range));
  const choices = offers.isStale || !offers.value ? [] : offers.value.slice(0, nOffered);
  const isOpen = at !== null && (choices.length > 0 || offers.isLoading);

  const pick = (choice: Choice) => {
    if (!at) return;
    const next = completed(text, at, choice.value);
    setText(next.text);
    setActive(-1);
    setCursor(at.kind === "name" ? next.cursor : null);
    requestAnimationFrame(() => field.current?.setSelectionRange(next.cursor, next.cursor));
  };
  const commit = () => {
    setCursor(null);
    setActive(-1);
    if (text.trim() !== query) onChange(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = isOpen ? stepInList(event.key, active, choices.length) : null;
    if (event.key === "Escape" && isOpen) setCursor(null);
    else if (event.key === "Escape" && text !== query) setText(query);
    else if (event.key === "Enter" && isOpen && active >= 0 && choices[active]) pick(choices[active]);
    else if (event.key === "Enter") commit();
    else if (step !== null) setActive(step);
    else if (event.key === "ArrowDown" || (event.key === " " && event.ctrlKey))
      setCursor(field.current!.selectionStart);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <span class="query-text">
      <input
        ref={field}
        class="field mono"
        role="combobox"
        aria-label={`${label} as text`}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid={isWrong ? "true" : undefined}
        aria-describedby={describedBy}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder='checkout.cpu{zone="eu-1"}'
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCursor(event.currentTarget.selectionStart);
          setActive(-1);
        }}
        onKeyDown={onKeyDown}
        onBlur={commit}
      />
      {isOpen && (
        <ChoiceList
          id={id}
          label={`Completions of the ${label.toLowerCase()}`}
          choices={choices}
          active={active}
          isLoading={offers.isLoading}
          onPick={pick}
        />
      )}
    </span>
  );
}
