// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Heatmap } from "../src/api/series.ts";
import { cellAt, stepCell, textOfCell, timeTicks } from "../src/lib/heatmap.ts";

const frame = { left: 10, top: 5, width: 100, height: 40, nPoints: 10, nBuckets: 4 };
const counts = [
  [0, 1, 0, 0],
  [0, 0, 3, 1],
  [0, 0, 0, 0],
];

test("cells are found by place, the lowest bucket at the bottom", () => {
  assert.deepEqual(cellAt(frame, 10, 44), { point: 0, bucket: 0 });
  assert.deepEqual(cellAt(frame, 109, 6), { point: 9, bucket: 3 });
  assert.equal(cellAt(frame, 9, 20), null);
  assert.equal(cellAt(frame, 111, 20), null);
  assert.equal(cellAt(frame, 50, 46), null);
});

test("keys walk from the fullest cell of the newest column, and stop at the edges", () => {
  assert.deepEqual(stepCell("ArrowLeft", null, counts, 4), { point: 1, bucket: 2 });
  assert.deepEqual(stepCell("ArrowLeft", { point: 0, bucket: 0 }, counts, 4), { point: 0, bucket: 0 });
  assert.deepEqual(stepCell("ArrowUp", { point: 0, bucket: 3 }, counts, 4), { point: 0, bucket: 3 });
  assert.deepEqual(stepCell("ArrowRight", { point: 0, bucket: 3 }, counts, 4), { point: 1, bucket: 3 });
  assert.equal(stepCell("x", null, counts, 4), null);
  assert.equal(stepCell("ArrowLeft", null, [], 4), null);
});

test("a cell says what is in it", () => {
  const map: Heatmap = {
    query: "",
    fromMs: 0,
    untilMs: 3000,
    stepMs: 1000,
    unit: "bytes",
    kind: "profile",
    borders: [0, 1024, 2048, 3072, 4096],
    counts,
    exemplars: [],
    messages: [],
  };
  assert.equal(textOfCell(map, { point: 0, bucket: 1 }, "utc"), "1970-01-01 00:00:00: 1 profile of 1 KiB to 2 KiB");
  assert.equal(
    textOfCell({ ...map, kind: "span" }, { point: 1, bucket: 2 }, "utc"),
    "1970-01-01 00:00:01: 3 spans of 2 KiB to 3 KiB",
  );
});

test("ticks are round moments within the range", () => {
  const from = Date.parse("2026-11-16T05:54:10Z");
  const ticks = timeTicks(from, from + 1800e3, 1000, 70, "utc");
  assert.deepEqual(
    ticks.slice(0, 2).map((ms) => new Date(ms).toISOString().slice(11, 19)),
    ["05:55:00", "06:00:00"],
  );
  assert.ok(ticks.every((ms) => ms >= from && ms < from + 1800e3));
  assert.deepEqual(timeTicks(from, from, 1000, 70, "utc"), []);
});
