// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { isRelative, pinned, resolveTime, shifted } from "../src/lib/time.ts";

const now = Date.UTC(2026, 10, 16, 6, 0, 0);

test("times are relative or absolute", () => {
  assert.equal(resolveTime("now", now), now);
  assert.equal(resolveTime("now-1h", now), now - 3600e3);
  assert.equal(resolveTime("now-90s", now), now - 90e3);
  assert.equal(resolveTime("now-1h30m", now), now - 5400e3);
  assert.equal(resolveTime("now-2w", now), now - 14 * 86400e3);
  assert.equal(resolveTime(String(now), now), now);
  assert.equal(resolveTime(String(now / 1000), now), now);
  assert.equal(resolveTime("2026-11-16T05:00:00Z", now), now - 3600e3);
  for (const text of ["", "soon", "now+1h", "now-", "now-1y", "now-1h30", "-5"]) assert.ok(Number.isNaN(resolveTime(text, now)), text);
  assert.ok(isRelative("now-1h") && !isRelative("1789948800000"));
});

test("pinning keeps the moment", () => {
  assert.deepEqual(pinned({ from: "now-1h", until: "now" }, now), { from: String(now - 3600e3), until: String(now) });
});

test("a range a day before stays relative if it was", () => {
  assert.deepEqual(shifted({ from: "now-1h", until: "now" }, 86400e3, now), { from: "now-90000s", until: "now-86400s" });
  assert.deepEqual(shifted({ from: "1789948800000", until: "1789952400000" }, 3600e3, now), { from: "1789945200000", until: "1789948800000" });
});
