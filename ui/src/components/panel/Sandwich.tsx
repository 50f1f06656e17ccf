// SPDX-License-Identifier: Apache-2.0
// One function between its callers, above, and its callees, below.

import { useMemo, useState } from "preact/hooks";
import { callersOf, calleesOf } from "../../flame/sandwich.ts";
import { isDiff, nameOf, type FlameTree } from "../../flame/tree.ts";
import { formatDelta, formatShare, formatValue } from "../../lib/format.ts";
import { Empty } from "../basics.tsx";
import { FlamePart } from "./FlamePart.tsx";
import { FunctionPicker, functionToShow } from "./FunctionPicker.tsx";
import type { Panel } from "./panel.ts";

/* Halves are as high as they are deep, as far as there is room. */
const MAX_SHARE = 30;
const ROW_PIXELS = 18;
const HEAD_PIXELS = 44;

function shapeOf(tree: FlameTree): { flex: string; maxHeight?: string } {
  if (tree.n === 1) return { flex: "none" };
  return { flex: `${Math.min(MAX_SHARE, tree.depth + 1)} 1 0`, maxHeight: `${tree.depth * ROW_PIXELS + HEAD_PIXELS}px` };
}

function Half({ panel, tree, title, direction }: { panel: Panel; tree: FlameTree; title: string; direction: "icicle" | "flame" }) {
  const [selected, setSelected] = useState(-1);
  const colour = panel.state.colour || (isDiff(tree) ? "diff" : "package");
  return (
    <section class="panel-half" aria-label={title} style={shapeOf(tree)}>
      <h3>{title}</h3>
      {tree.n === 1 ? (
        <p class="panel-note muted">{direction === "flame" ? "Nothing calls it: stacks begin with it." : "It calls nothing: all of it is its own."}</p>
      ) : (
        <FlamePart
          key={nameOf(tree, 0)}
          tree={tree} colour={colour} direction={direction} pattern={panel.pattern} selected={selected} hasOverview={false}
          on={{
            select: setSelected,
            hover: (node, x, y) => panel.point(tree, node, x, y),
            menu: (node, x, y) => panel.menu(tree, node, x, y),
          }}
        />
      )}
    </section>
  );
}

/** What a function comes to, in one line. */
function functionSummary(panel: Panel, name: string): string {
  const { tree } = panel;
  const row = panel.rows().find((one) => one.text === name && !one.isOther);
  if (!row) return "";
  if (isDiff(tree)) {
    return `${formatValue(row.total, tree.unit)} before, ${formatValue(row.totalAfter, tree.unit)} after (${formatDelta(row.totalAfter - row.total, tree.unit)})`;
  }
  const share = (value: number) => formatShare(value / tree.totals[0]);
  return `${formatValue(row.total, tree.unit)} in all (${share(row.total)}), ${formatValue(row.self, tree.unit)} itself (${share(row.self)})`;
}

export function Sandwich({ panel }: { panel: Panel }) {
  const { tree } = panel;
  const name = functionToShow(panel);
  const callers = useMemo(() => (name ? callersOf(tree, name) : null), [tree, name]);
  const callees = useMemo(() => (name ? calleesOf(tree, name) : null), [tree, name]);
  return (
    <div class="panel-sandwich">
      <div class="panel-head">
        <FunctionPicker panel={panel} name={name} />
        <span class="muted">{functionSummary(panel, name)}</span>
      </div>
      {callers && callees ? (
        <>
          <Half panel={panel} tree={callers} title="Callers" direction="flame" />
          <Half panel={panel} tree={callees} title="Callees" direction="icicle" />
        </>
      ) : (
        <Empty title="The function is not here">
          <p>{name ? `This profile has no function ${name.slice(0, 300)}. Choose another, or show frames that are hidden.` : "This profile has no functions."}</p>
        </Empty>
      )}
    </div>
  );
}
