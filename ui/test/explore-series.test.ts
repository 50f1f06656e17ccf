// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatPoint, groupName, kindOf, longerStep, remainderOf, stackLayers, stepOf } from "../src/lib/series.ts";

const group = (name: string, points: (number | null)[]) => ({ labels: { zone: name }, sum: 0, points });

test("layers stand on those before them", () => {
  const layers = stackLayers({ nLeftOut: 0, groups: [group("a", [1, 2]), group("b", [10, 20])] }, 5);
  assert.deepEqual(
    layers.map((layer) => layer.tops),
    [
      [1, 2],
      [11, 22],
    ],
  );
  assert.deepEqual(
    layers.map((layer) => [layer.mean, layer.max]),
    [
      [1.5, 2],
      [15, 20],
    ],
  );
});

test("groups beyond the shown ones are added up", () => {
  const layers = stackLayers(
    { nLeftOut: 0, groups: [group("a", [1]), group("b", [2]), group("c", [3]), group("d", [null])] },
    1,
  );
  assert.equal(layers.length, 2);
  assert.equal(layers[1].name, "3 more");
  assert.equal(layers[1].labels, null);
  assert.deepEqual(layers[1].tops, [6]);
});

test("groups that were left out are counted by what they come to", () => {
  const groups = [group("a", [1, 2]), group("b", [3, null])];
  const remainder = remainderOf({ groups: [group("", [10, 5])] }, groups);
  assert.deepEqual(remainder, [6, 3]);
  const layers = stackLayers({ groups, nLeftOut: 7, remainder }, 1);
  assert.equal(layers[1].name, "8 more");
  assert.deepEqual(layers[1].tops, [10, 5]);
  assert.deepEqual(remainderOf({ groups: [] }, groups), []);
});

test("a point without any profile is a gap, one that a group lacks is not", () => {
  const layers = stackLayers({ nLeftOut: 0, groups: [group("a", [1, null, 3]), group("b", [null, null, 4])] }, 5);
  assert.deepEqual(layers[0].tops, [1, null, 3]);
  assert.deepEqual(layers[1].tops, [1, null, 7]);
  assert.equal(layers[1].mean, 4);
});

test("nothing is stacked from nothing", () => {
  assert.deepEqual(stackLayers({ nLeftOut: 0, groups: [] }, 5), []);
  assert.equal(stackLayers({ nLeftOut: 0, groups: [group("a", [null])] }, 5)[0].max, 0);
});

test("negative values and large ones do not break it", () => {
  const layers = stackLayers({ nLeftOut: 0, groups: [group("a", [2 ** 62]), group("b", [-5])] }, 5);
  assert.ok(Number.isFinite(layers[1].tops[0]));
});

test("CPU is asked for as cores, flows per second, levels as they are", () => {
  const cpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
  assert.equal(kindOf(cpu), "cores");
  assert.equal(kindOf("cpu", [cpu]), "cores");
  assert.equal(kindOf("", [cpu]), "cores");
  assert.equal(kindOf("", ["samples:samples:count::"]), "sum");
  assert.equal(kindOf("cpu", []), "sum");
  assert.equal(kindOf("alloc_space"), "rate");
  assert.equal(kindOf("memory:alloc_space:bytes:space:bytes"), "rate");
  assert.equal(kindOf("memory:inuse_space:bytes:space:bytes"), "sum");
  assert.equal(kindOf("goroutines"), "sum");
  assert.equal(kindOf("something"), "sum");
});

test("points are written with their unit", () => {
  assert.equal(formatPoint(1.5, "cores"), "1.5 cores");
  assert.equal(formatPoint(2048, "bytes"), "2 KiB");
  assert.equal(formatPoint(2048, "bytes/second"), "2 KiB/s");
  assert.equal(formatPoint(5e6, "nanoseconds/second"), "5 ms/s");
  assert.equal(formatPoint(1200, "count/second"), "1.2 k/s");
});

test("groups are named by their labels", () => {
  assert.equal(groupName({}), "all");
  assert.equal(groupName({ zone: "" }), "(none)");
  assert.equal(groupName({ zone: "eu", version: "2" }), "eu, 2");
});

test("steps are round and give no more points than wanted", () => {
  assert.equal(stepOf(3600e3, 180), 30);
  assert.equal(stepOf(1000, 180), 10);
  assert.equal(stepOf(30 * 86400e3, 180), 14400);
  assert.equal(stepOf(4000 * 86400e3, 100), 40 * 86400);
  for (const range of [5e3, 61e3, 3600e3, 86400e3, 40 * 86400e3]) assert.ok(range / 1000 / stepOf(range, 150) <= 150);
});

test("a step is made longer where profiles come more seldom, but not for outages", () => {
  const of = (points: (number | null)[]) => longerStep({ groups: [group("a", points)], stepMs: 10_000 });
  assert.equal(of([1, 1, 1, 1, 1, 1]), null);
  assert.equal(of([1, null, 1, null, 1, null, 1, null, 1]), 60);
  assert.equal(of([1, 1, null, 1, 1, null, 1, 1, null, 1]), 30);
  assert.equal(of([1, 1, 1, 1, ...new Array<null>(50).fill(null), 1, 1, 1]), null);
  assert.equal(of([1, null, 1]), null);
  assert.equal(of([]), null);
});
