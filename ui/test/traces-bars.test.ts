// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { colourOf, meetServices, nColours } from "../src/lib/services.ts";
import { indentOf, parseWindow, placed, placedParts, printWindow, rowsInSight, ticksOf } from "../src/views/traces/bars.ts";
import { makeSpan } from "./traces-made.ts";

const whole = { v0: 0, v1: 1000 };

test("a stretch of time has its place in pixels, and at least some width", () => {
  assert.deepEqual(placed(100, 300, whole, 500), { left: 50, width: 100 });
  assert.deepEqual(placed(100, 100, whole, 500, 2), { left: 50, width: 2 });
  assert.equal(placed(0, 10, { v0: 500, v1: 600 }, 500), null);
  assert.equal(placed(700, 800, { v0: 500, v1: 600 }, 500), null);
});

test("a stretch that is much longer than what is shown is cut just outside", () => {
  const place = placed(0, 1e15, { v0: 5e14, v1: 5e14 + 10 }, 500)!;
  assert.ok(place.left >= -16 && place.left < 0);
  assert.ok(place.left + place.width > 500 && place.left + place.width <= 516);
});

test("the parts of a bar fill it in order and leave out what is nothing", () => {
  const span = makeSpan({ id: 1, parent: null, depth: 0, offset: 100, duration: 400, latency: { cpu_ns: 100, off_cpu_ns: null, children_ns: 200, unknown_ns: 100 } });
  assert.deepEqual(placedParts(span, whole, 1000), [
    { kind: "cpu", left: 100, width: 100 }, { kind: "unknown", left: 200, width: 100 }, { kind: "children", left: 300, width: 200 },
  ]);
  span.latency.off_cpu_ns = 50;
  span.latency.unknown_ns = 50;
  assert.deepEqual(placedParts(span, whole, 1000).map((part) => part.kind), ["cpu", "off-cpu", "unknown", "children"]);
  assert.deepEqual(placedParts(span, { v0: 260, v1: 270 }, 100), [{ kind: "unknown", left: -16, width: 132 }]);
});

test("ticks are round times", () => {
  assert.deepEqual(ticksOf(whole, 1000, 100), [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  assert.deepEqual(ticksOf({ v0: 130, v1: 170 }, 400, 100), [130, 140, 150, 160, 170]);
  assert.deepEqual(ticksOf({ v0: 5, v1: 5 }, 400), []);
  assert.ok(ticksOf({ v0: 1e15, v1: 1e15 + 7 }, 3000, 1).length <= 100);
});

test("deep names stay in their column", () => {
  assert.equal(indentOf(0, 300), 0);
  assert.equal(indentOf(3, 300), 42);
  assert.equal(indentOf(1000, 300), 150);
});

test("rows in sight stay within what there is", () => {
  assert.deepEqual(rowsInSight(0, 240, 24, 10000, 2), [0, 12]);
  assert.deepEqual(rowsInSight(24 * 9990, 240, 24, 10000, 2), [9988, 10000]);
  assert.deepEqual(rowsInSight(24 * 9990, 240, 24, 5, 2), [5, 5], "after closing everything, before the scroll bar has followed");
  assert.deepEqual(rowsInSight(0, 240, 24, 0), [0, 0]);
});

test("the part of the time that is shown stands in the URL unless it is all", () => {
  assert.equal(printWindow(whole, whole), null);
  assert.equal(printWindow({ v0: 10.4, v1: 20.4 }, whole), "10-21");
  assert.deepEqual(parseWindow("10-21", whole), { v0: 10, v1: 21 });
  for (const text of ["", "21-10", "a-b", "5000-6000", "10"]) assert.deepEqual(parseWindow(text, whole), whole);
});

test("services have colours of their own as long as there are some", () => {
  meetServices(["a", "b", "c", "d", "e", "f", "g", "h"]);
  const colours = ["h", "g", "f", "e", "d", "c", "b", "a"].map(colourOf);
  assert.equal(new Set(colours).size, nColours);
  assert.equal(colourOf("a"), colours[7], "and keep them");
  const more = colourOf("one more");
  assert.ok(more >= 0 && more < nColours);
});
