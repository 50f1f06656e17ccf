// SPDX-License-Identifier: Apache-2.0
// What grew and what shrank, function by function, with how far each number may be off by chance.

import { useMemo } from "preact/hooks";
import type { Delta, Diff, DiffFunction } from "../../api/diff.ts";
import { useSize } from "../../components/basics.tsx";
import { VirtualTable, type Column, type Sort } from "../../components/VirtualTable.tsx";
import { BEFORE_AFTER, type Sides } from "../../flame/tree.ts";
import { formatCount, shortened } from "../../lib/format.ts";
import { navigate, route } from "../../lib/route.ts";
import { countOf, signed, surenessOf, type Measure } from "./summary.ts";

/** What to think of a change, where `n` functions were compared. */
export function verdictText(delta: Delta, n: number): string {
  if (delta.delta === 0) return "no change";
  const sureness = surenessOf(delta, n);
  if (sureness === "chance") return "within chance";
  if (delta.mark !== "") return delta.mark;
  if (sureness === "unknown") return "not known";
  return `${sureness === "sure" ? "surely" : "probably"} ${delta.delta > 0 ? "more" : "less"}`;
}

function isSignificant(delta: Delta): boolean {
  return delta.verdict === "significant" && delta.delta !== 0;
}

function toneOf(delta: Delta): string {
  if (delta.delta === 0 || delta.verdict === "within noise") return "muted";
  return delta.delta > 0 ? "more" : "less";
}

/** The heading of a column says the unit, its cells need not. */
function bare(text: string): string {
  return text.replace(/ cores?$/, "");
}

function ChangeText({ delta, measure }: { delta: Delta; measure: Measure }) {
  return (
    <span class={toneOf(delta)}>
      {bare(signed(delta.delta, measure.format))}
      {delta.error !== null && delta.error > 0 && <span class="compare-error"> ± {bare(measure.formatError(delta.error))}</span>}
    </span>
  );
}

export function percentOf(delta: Delta): string {
  if (delta.percent === null) return delta.mark || "–";
  const size = Math.abs(delta.percent);
  return signed(delta.percent, () => `${size >= 10 ? Math.round(size) : size.toFixed(1)} %`);
}

interface Links {
  before: (name: string) => string;
  after: (name: string) => string;
}

function columnsOf(width: number, n: number, measure: Measure, sides: Sides, links?: Links): Column<DiffFunction>[] {
  const name: Column<DiffFunction> = {
    id: "name", title: "Function", isSortable: true, width: "minmax(8em, 2fr)",
    cell: (fn) => <button type="button" class="compare-name clip" title={`Find ${shortened(fn.name, 2000)} in the flame graph`} onClick={() => find(fn.name)}><bdi>{shortened(fn.name) || "(no name)"}</bdi></button>,
  };
  const number = (id: string, title: string, hint: string, em: string, cell: Column<DiffFunction>["cell"]): Column<DiffFunction> => ({ id, title, hint, isNumber: true, isSortable: true, width: em, cell });
  const unit = measure.unit ? `, ${measure.unit}` : "";
  const before = number("before", `Self ${sides[0]}${unit}`, `What the function itself cost, ${sides[0]}.`, "9em", (fn) => bare(measure.format(fn.self.before)));
  const after = number("after", `Self ${sides[1]}${unit}`, `What the function itself costs, ${sides[1]}, scaled.`, "9em", (fn) => bare(measure.format(fn.self.after)));
  const self = number("self", `Change of self${unit}`, "With one standard error, where the number of samples is known.", "minmax(11em, 1fr)", (fn) => <ChangeText delta={fn.self} measure={measure} />);
  const percent = number("percent", "%", "The change of self as a part of what it was.", "5em", (fn) => <span class={toneOf(fn.self)}>{percentOf(fn.self)}</span>);
  const total = number("total", `Change of total${unit}`, "Of the function with all that it calls.", "minmax(11em, 1fr)", (fn) => <ChangeText delta={fn.total} measure={measure} />);
  const verdict: Column<DiffFunction> = {
    id: "verdict", title: "Verdict", isSortable: true, width: "7.5em", hint: `Of self. More than three standard errors are probable; sure is what is more than chance would make of ${formatCount(n)} functions.`,
    cell: (fn) => <span class={toneOf(fn.self)}>{verdictText(fn.self, n)}</span>,
  };
  const linksOf = ({ before: beforeOf, after: afterOf }: Links): Column<DiffFunction> => ({
    id: "sides", title: "Explore", width: "8em",
    cell: (fn) => (
      <span class="compare-links">
        <a href={beforeOf(fn.name)} aria-label={`${shortened(fn.name)} ${sides[0]}, in Explore`}>{sides[0]}</a>
        <a href={afterOf(fn.name)} aria-label={`${shortened(fn.name)} ${sides[1]}, in Explore`}>{sides[1]}</a>
      </span>
    ),
  });
  if (width < 560) return [{ ...name, width: "minmax(6em, 1fr)" }, { ...self, title: `Change${unit}`, width: "minmax(7em, 1fr)" }, { ...percent, width: "4.5em" }];
  if (width < 900) return [name, self, percent, verdict];
  return [name, before, after, self, percent, total, verdict, ...(links ? [linksOf(links)] : [])];
}

export function patternOf(name: string): string {
  return `^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
}

function find(name: string): void {
  navigate({ params: { search: patternOf(name) } });
}

function keyOf(fn: DiffFunction, id: string): number | string {
  if (id === "name") return fn.name;
  if (id === "before") return fn.self.before;
  if (id === "after") return fn.self.after;
  if (id === "percent") return fn.self.percent ?? (fn.self.delta === 0 ? 0 : Infinity);
  if (id === "verdict") return ["unknown", "within noise", "significant"].indexOf(fn.self.verdict) * Math.sign(fn.self.delta);
  return id === "total" ? fn.total.delta : fn.self.delta;
}

/** A sorted copy. By "most", the default, the largest changes of either kind come first, those within chance last. */
export function sortedChanges(functions: readonly DiffFunction[], sort: Sort): DiffFunction[] {
  const sign = sort.isDescending ? -1 : 1;
  const isTold = (delta: Delta) => delta.delta !== 0 && delta.verdict !== "within noise";
  const most = (fn: DiffFunction) => (isTold(fn.self) ? 2 : 0) + (isTold(fn.total) ? 1 : 0);
  const bySize = (a: DiffFunction, b: DiffFunction) => Math.abs(b.self.delta) - Math.abs(a.self.delta) || Math.abs(b.total.delta) - Math.abs(a.total.delta) || (a.name < b.name ? -1 : 1);
  return [...functions].sort((a, b) => {
    if (sort.id === "most") return most(b) - most(a) || bySize(a, b);
    const [x, y] = [keyOf(a, sort.id), keyOf(b, sort.id)];
    return x === y ? bySize(a, b) : sign * (x < y ? -1 : 1);
  });
}

/** `links` lead to either side in Explore, where they can be shown there. */
export function Changes({ diff, measure, sides = BEFORE_AFTER, links }: { diff: Diff; measure: Measure; sides?: Sides; links?: Links }) {
  const [ref, size] = useSize<HTMLDivElement>();
  const { params } = route.value;
  const n = countOf(diff);
  const filter = (params.get("changes") ?? "").toLowerCase();
  const isSureOnly = params.get("sure") === "1";
  const [id = "most", order = "down"] = (params.get("changes-sort") ?? "most.down").split(".");
  const rows = useMemo(() => {
    const found = diff.functions.filter((fn) => {
      if (filter && !fn.name.toLowerCase().includes(filter)) return false;
      return !isSureOnly || isSignificant(fn.self) || isSignificant(fn.total);
    });
    return sortedChanges(found, { id, isDescending: order === "down" });
  }, [diff, filter, isSureOnly, id, order]);
  const setParam = (name: string, value: string | null) => navigate({ params: { [name]: value } }, "replace");
  return (
    <section class="card" aria-label="What grew and what shrank">
      <header>
        <h2 class="spread">What grew and what shrank</h2>
        <label class="row"><input type="checkbox" checked={isSureOnly} onChange={(event) => setParam("sure", event.currentTarget.checked ? "1" : null)} /> Only what is more than chance</label>
        <input class="field" type="search" placeholder="Filter functions" aria-label="Filter functions" value={params.get("changes") ?? ""} onInput={(event) => setParam("changes", event.currentTarget.value)} />
      </header>
      <div ref={ref} class="compare-table">
        {rows.length === 0 && <p class="muted inside">{diff.functions.length === 0 ? "No function changed." : isSureOnly ? "No function changed by more than chance, as far as the number of samples is known." : "No function has this in its name."}</p>}
        {rows.length > 0 && size.width > 0 && (
          <VirtualTable
            label="Changes of functions"
            columns={columnsOf(size.width, n, measure, sides, links)}
            rows={rows}
            keyOf={(fn) => fn.name}
            sort={{ id, isDescending: order === "down" }}
            onSort={(next) => setParam("changes-sort", `${next.id}.${next.isDescending ? "down" : "up"}`)}
            onOpen={(fn) => find(fn.name)}
            height={`min(${(rows.length + 1) * 28 + 4}px, max(16em, 60vh))`}
          />
        )}
        {diff.not_shown > 0 && <p class="muted inside">{formatCount(diff.not_shown)} functions that changed less are not shown.</p>}
      </div>
    </section>
  );
}
