// SPDX-License-Identifier: Apache-2.0
// A query, by clicks or as text: service, profile type and conditions on labels beside the text that `hearth query` takes. The
// text is the truth; clicks change it, and what is typed changes what can be clicked.

import { useId, useState } from "preact/hooks";
import { getLabels, getLabelValues, getServices, getTypes } from "../api/census.ts";
import { sentenceOf } from "../api/client.ts";
import {
  operators,
  parseQuery,
  printCondition,
  printQuery,
  selectorOf,
  shortType,
  targetOf,
  withTarget,
  type Condition,
  type Operator,
  type QueryParts,
} from "../lib/query.ts";
import { useResource } from "../lib/resource.ts";
import type { TimeRange } from "../lib/time.ts";
import { Button } from "./basics.tsx";
import { Combobox, type Choice } from "./Combobox.tsx";
import { QueryText, seriesHint } from "./QueryText.tsx";
import "./QueryPicker.css";

/** Name, operator and value of one condition. `onChange` is called once all are there. */
function ConditionEditor({
  condition,
  parts,
  services,
  range,
  onChange,
  onClose,
}: {
  condition: Condition;
  parts: QueryParts;
  services: ReadonlySet<string> | undefined;
  range: TimeRange;
  onChange: (condition: Condition) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(condition.name);
  const [operator, setOperator] = useState<Operator>(condition.operator);
  const isNew = condition.name === "";
  const others = selectorOf(parts, services, name || undefined);
  const names = useResource(`names|${others}|${range.from}|${range.until}`, () => getLabels(others, range));
  const values = useResource(name ? `values|${name}|${others}|${range.from}|${range.until}` : null, () =>
    getLabelValues(name, others, range),
  );
  const nameChoices = (names.value ?? [])
    .filter((one) => !one.startsWith("__") && one !== "service_name")
    .map((value) => ({ value }));
  const valueChoices = (values.isStale ? [] : (values.value ?? [])).map((one) => ({
    value: one.value,
    hint: seriesHint(one.series),
  }));

  return (
    <span
      class="condition-editor"
      role="group"
      aria-label={isNew ? "New condition" : `Condition on ${condition.name}`}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <Combobox
        label="Label"
        value={name}
        choices={nameChoices}
        isLoading={names.isLoading}
        placeholder="Label"
        isFree
        isFocused={isNew}
        note={names.error ? sentenceOf(names.error) : "There are no labels in this time."}
        onChange={setName}
      />
      <select
        class="field"
        aria-label="Operator"
        value={operator}
        onChange={(event) => {
          const next = event.currentTarget.value as Operator;
          setOperator(next);
          if (!isNew) onChange({ name, operator: next, value: condition.value });
        }}
      >
        {operators.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <Combobox
        key={name}
        label="Value"
        value={name === condition.name ? condition.value : ""}
        choices={valueChoices}
        isLoading={values.isLoading}
        placeholder={operator.includes("~") ? "Regular expression" : "Value"}
        isFree
        isFocused={name !== "" && (isNew || name !== condition.name)}
        note={values.error ? sentenceOf(values.error) : "There are no values in this time."}
        onChange={(value) => {
          if (name) onChange({ name, operator, value });
        }}
      />
      <Button kind="quiet" label="Done" onClick={onClose}>
        ✓
      </Button>
    </span>
  );
}

/** `query` is the text; `range` says of which time services, types and labels are offered; `error` is what the server had
 * against the query, shown below it; `label` tells apart several pickers of a view. */
export function QueryPicker({
  query,
  range,
  onChange,
  error,
  label = "Query",
}: {
  query: string;
  range: TimeRange;
  onChange: (query: string) => void;
  error?: unknown;
  label?: string;
}) {
  const errorId = useId();
  const [edited, setEdited] = useState<number | null>(null); // index of a condition; as many as there are: a new one
  const parts = parseQuery(query);
  const services = useResource(`services|${range.from}|${range.until}`, () => getServices(range));
  const serviceNames = services.value && new Set(services.value.map((one) => one.value));
  const target = parts ? targetOf(parts, serviceNames) : { service: "", type: "" };
  const ofService = target.service
    ? selectorOf({ front: "", conditions: [{ name: "service_name", operator: "=", value: target.service }] })
    : "";
  const types = useResource(parts ? `types|${ofService}|${range.from}|${range.until}` : null, () =>
    getTypes(ofService, range),
  );
  const fullTypes = (types.value ?? []).map((one) => one.type);
  const typeChoices: Choice[] = [{ value: "", text: "Chosen by the server" }];
  for (const one of types.value ?? []) {
    const isAlone = fullTypes.filter((other) => shortType(other) === shortType(one.type)).length === 1;
    typeChoices.push({ value: one.type, text: isAlone ? shortType(one.type) : one.type, hint: seriesHint(one.series) });
  }
  const chosenType = typeChoices.find(
    (one) => one.value !== "" && (one.value === target.type || shortType(one.value) === target.type),
  );
  const serviceChoices = (services.value ?? []).map((one) => ({ value: one.value, hint: seriesHint(one.series) }));
  const change = (next: QueryParts) => onChange(printQuery(next));
  const conditions = parts?.conditions ?? [];
  const setCondition = (index: number, condition: Condition | null) => {
    const next = conditions.slice();
    next.splice(index, index < conditions.length ? 1 : 0, ...(condition ? [condition] : []));
    change({ front: parts!.front, conditions: next });
  };
  const editor = (index: number, condition: Condition) => (
    <ConditionEditor
      key={`edit-${index}`}
      condition={condition}
      parts={parts!}
      services={serviceNames}
      range={range}
      onChange={(next) => {
        setCondition(index, next);
        setEdited(null);
      }}
      onClose={() => setEdited(null)}
    />
  );

  return (
    <div class="query-picker" role="group" aria-label={label}>
      {parts && (
        <div class="row">
          <Combobox
            label={`${label}: service`}
            value={target.service}
            choices={serviceChoices}
            isLoading={services.isLoading}
            placeholder="Service"
            note={services.error ? sentenceOf(services.error) : "There are no services in this time."}
            onChange={(service) => change(withTarget(parts, { service, type: target.type }))}
          />
          <Combobox
            label={`${label}: profile type`}
            value={chosenType?.value ?? target.type}
            shown={chosenType?.text ?? target.type}
            choices={typeChoices}
            isLoading={types.isLoading}
            placeholder="Type"
            note={types.error ? sentenceOf(types.error) : undefined}
            onChange={(type) => change(withTarget(parts, { service: target.service, type }, fullTypes))}
          />
          {conditions.map((condition, index) => {
            if (condition.name === "service_name" && condition.value === target.service) return null;
            if (index === edited) return editor(index, condition);
            const text = printCondition(condition);
            return (
              <span class="chip condition" key={`${index}-${text}`}>
                <button type="button" class="clip" title={`Change ${text}`} onClick={() => setEdited(index)}>
                  <bdi>{text}</bdi>
                </button>
                <button
                  type="button"
                  aria-label={`Remove ${text}`}
                  title="Remove"
                  onClick={() => setCondition(index, null)}
                >
                  ✕
                </button>
              </span>
            );
          })}
          {edited === conditions.length ? (
            editor(edited, { name: "", operator: "=", value: "" })
          ) : (
            <Button kind="quiet" onClick={() => setEdited(conditions.length)}>
              + Condition
            </Button>
          )}
        </div>
      )}
      <QueryText
        query={query}
        range={range}
        label={label}
        isWrong={error !== undefined || parts === null}
        describedBy={error !== undefined ? errorId : undefined}
        onChange={onChange}
      />
      {error !== undefined && (
        <p class="query-error" id={errorId} role="alert">
          {sentenceOf(error)}
        </p>
      )}
    </div>
  );
}
