// SPDX-License-Identifier: Apache-2.0
// Which function the sandwich and the lines are about: a field with the functions of the profile to choose from.

import { useId, useMemo } from "preact/hooks";
import { sortRows } from "../../flame/aggregate.ts";
import type { Panel } from "./panel.ts";

const N_OFFERED = 200;

/** The function that was chosen, or else the one that costs most itself. */
export function functionToShow(panel: Panel): string {
  if (panel.chosen) return panel.chosen;
  return sortRows(panel.tree, panel.rows(), "self", true).find((row) => !row.isOther)?.text ?? "";
}

export function FunctionPicker({ panel, name }: { panel: Panel; name: string }) {
  const id = useId();
  const rows = panel.rows();
  const offered = useMemo(() => sortRows(panel.tree, rows, "total", true).filter((row) => !row.isOther).slice(0, N_OFFERED), [rows]);
  return (
    <label class="panel-picker">
      <span>Function</span>
      <input
        class="field mono"
        list={id}
        value={name}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => {
          const wanted = event.currentTarget.value.trim();
          const found = rows.find((row) => row.text === wanted) ?? rows.find((row) => row.text.toLowerCase().includes(wanted.toLowerCase()));
          if (wanted && found) panel.change({ fn: found.text, sel: "" });
          else event.currentTarget.value = name;
        }}
      />
      <datalist id={id}>
        {offered.map((row) => (
          <option key={row.text} value={row.text} />
        ))}
      </datalist>
    </label>
  );
}
