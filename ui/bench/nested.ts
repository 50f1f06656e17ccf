// SPDX-License-Identifier: Apache-2.0
// A flame graph as the nested sets that Grafana's panel takes: four columns over the nodes in pre-order, and the names.

import { childStartsOf } from "../src/flame/structure.ts";
import { type FlameTree, selfOf, valueOf } from "../src/flame/tree.ts";

export { decodeFlame } from "../src/flame/decode.ts";

/** One side of the tree as JSON. */
export function nestedSets(tree: FlameTree): string {
  const starts = childStartsOf(tree);
  const [levels, values, selfs, labels]: number[][] = [[], [], [], []];
  const visit = (node: number, level: number) => {
    levels.push(level);
    values.push(valueOf(tree, node));
    selfs.push(selfOf(tree, node));
    labels.push(tree.name[node]);
    for (let child = starts[node]; child < starts[node + 1]; child++) visit(child, level + 1);
  };
  visit(0, 0);
  const field = (name: string, type: string, config = {}) => ({ name, type, config });
  const fields = [
    field("level", "number"),
    field("value", "number", { unit: tree.unit }),
    field("self", "number", { unit: tree.unit }),
    field("label", "enum", { type: { enum: { text: tree.names } } }),
  ];
  return JSON.stringify({ frames: [{ schema: { name: "response", meta: { preferredVisualisationType: "flamegraph" }, fields }, data: { values: [levels, values, selfs, labels] } }] });
}
