// SPDX-License-Identifier: Apache-2.0
// What is worth a look, one sentence each, with a link that shows it.

import { useMemo } from "preact/hooks";
import { hasFewSamples, hintsOf, MIN_SAMPLES, samplesText, type Hint } from "../../flame/hints.ts";
import { isDiff, nameOf } from "../../flame/tree.ts";
import { Button, Empty } from "../basics.tsx";
import type { Panel } from "./panel.ts";
import { pathTo } from "./state.ts";

const titles: Record<Hint["kind"], string> = {
  leaf: "Hot function", deep: "Deep stacks", shared: "Called from many places", garbage: "Garbage collection", locks: "Locks",
  allocation: "Allocation", cut: "Small frames", nameless: "No names", change: "Change",
};

function follow(panel: Panel, hint: Hint): void {
  const { tree } = panel;
  if (hint.show === "sandwich") panel.change({ show: "sandwich", fn: nameOf(tree, hint.node), sel: "" });
  else panel.change({ show: "flame", sel: pathTo(tree, hint.node), fn: "", zoom: "", search: hint.search ?? "" });
}

export function Hints({ panel }: { panel: Panel }) {
  const { tree } = panel;
  const hints = useMemo(() => hintsOf(tree, panel.rows()), [tree]);
  if (hints.length === 0) {
    return (
      <Empty title={hasFewSamples(tree) ? "Too few samples for hints" : "Nothing stands out"}>
        <p>
          {hasFewSamples(tree)
            ? `Raw samples behind this profile: ${samplesText(tree)}. With fewer than ${MIN_SAMPLES} chance has too large a part in it; choose a longer time or more of the fleet.`
            : isDiff(tree) ? "No function changed more than chance alone may do." : "No function, lock or allocation takes a part that would be worth a word."}
        </p>
      </Empty>
    );
  }
  return (
    <ul class="panel-hints">
      {hints.map((hint, index) => (
        <li key={index}>
          <span class="chip">{titles[hint.kind]}</span>
          <p>{hint.text}</p>
          <Button label={`Show: ${hint.text}`} title="Show it" onClick={() => follow(panel, hint)}>Show</Button>
        </li>
      ))}
    </ul>
  );
}
