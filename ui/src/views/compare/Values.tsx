// SPDX-License-Identifier: Apache-2.0
// "Version A against B": two values of a label of the query, chosen in a dialog.

import { useState } from "preact/hooks";
import { getLabels, getLabelValues } from "../../api/census.ts";
import { Button, Dialog, Failure, Loading } from "../../components/basics.tsx";
import { formatCount } from "../../lib/format.ts";
import { parseQuery, selectorOf } from "../../lib/query.ts";
import { useResource } from "../../lib/resource.ts";
import { show, withValues, type CompareState } from "./state.ts";

/* Labels by which people mostly compare, the likeliest first. */
const likely = ["service_version", "version", "service_git_ref", "commit", "deployment_environment", "region", "zone", "host_name", "endpoint"];

/** Labels that can be compared by, the likeliest first. */
export function comparable(labels: readonly string[]): string[] {
  const rank = (label: string) => (likely.includes(label) ? likely.indexOf(label) : likely.length);
  return labels
    .filter((label) => !label.startsWith("__") && label !== "service_name" && label !== "pyroscope_spy")
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Versions in the order in which they came: 1.9 before 1.10. */
export function inOrder(values: readonly string[]): string[] {
  return [...values].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

function Choose({ label, value, values, onChange }: { label: string; value: string; values: readonly string[]; onChange: (value: string) => void }) {
  return (
    <label class="stack compare-choose">
      <span>{label}</span>
      <select class="field" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {values.map((one) => <option key={one} value={one}>{one === "" ? "(empty)" : one}</option>)}
      </select>
    </label>
  );
}

export function ValuesDialog({ state, onClose }: { state: CompareState; onClose: () => void }) {
  const { query, range } = state.after;
  const parts = parseQuery(query);
  const selector = parts ? selectorOf(parts) : "";
  const labels = useResource(`labels ${selector} ${range.from} ${range.until}`, async () => comparable(await getLabels(selector, range)));
  const [chosen, setChosen] = useState<string | null>(null);
  const label = chosen ?? labels.value?.[0] ?? null;
  const others = parts && label ? selectorOf(parts, undefined, label) : "";
  const values = useResource(label ? `values ${label} ${others} ${range.from} ${range.until}` : null, async () => inOrder((await getLabelValues(label!, others, range)).map((one) => one.value)));
  const [before, setBefore] = useState<string | null>(null);
  const [after, setAfter] = useState<string | null>(null);
  const all = values.isStale ? [] : (values.value ?? []);
  const first = before !== null && all.includes(before) ? before : (all[all.length - 2] ?? "");
  const second = after !== null && all.includes(after) ? after : (all[all.length - 1] ?? "");
  const error = labels.error ?? values.error;

  return (
    <Dialog title="Compare two values of a label" onClose={onClose}>
      <div class="stack">
        {error !== undefined && <Failure error={error} retry={labels.error ? labels.retry : values.retry} />}
        {!labels.value && labels.isLoading && <Loading />}
        {labels.value?.length === 0 && <p>What the query chooses has no labels to compare by in this time.</p>}
        {labels.value && label && <Choose label="Label" value={label} values={labels.value} onChange={setChosen} />}
        {values.isLoading && <Loading />}
        {label && values.value && !values.isStale && all.length < 2 && <p>There {all.length === 0 ? "is no value" : "is one value only"} of {label} in this time. Choose another label, or a longer time.</p>}
        {all.length >= 2 && (
          <>
            <div class="compare-pair">
              <Choose label="Before" value={first} values={all} onChange={setBefore} />
              <Choose label="After" value={second} values={all} onChange={setAfter} />
            </div>
            <p class="muted">{formatCount(all.length)} values. Both are looked at over the time of the side after.</p>
          </>
        )}
        <div class="row">
          <Button kind="main" disabled={all.length < 2 || first === second} onClick={() => { onClose(); show(withValues(state, label!, first, second)); }}>Compare</Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  );
}
