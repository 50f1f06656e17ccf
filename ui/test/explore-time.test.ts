// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { complaintOf, pinned, resolveTime, stepped, unpinned, zoomedOut } from "../src/lib/time.ts";
import { fromField, nameOfRange, toField } from "../src/lib/timetext.ts";

const now = Date.parse("2026-11-16T06:00:00Z");
const hour = { from: "now-1h", until: "now" };

test("steps stay relative, and do not go beyond now", () => {
  assert.deepEqual(stepped(hour, -1, now), { from: "now-2h", until: "now-1h" });
  assert.deepEqual(stepped({ from: "now-2h", until: "now-1h" }, 1, now), hour);
  assert.deepEqual(stepped({ from: "now-90m", until: "now-30m" }, 1, now), hour);
  assert.deepEqual(stepped(hour, 1, now), hour);
  assert.deepEqual(stepped({ from: "1000000000000", until: "1000000060000" }, 1, now), {
    from: "1000000060000",
    until: "1000000120000",
  });
  assert.deepEqual(stepped({ from: "1000000000000", until: "1000000060000" }, -1, now), {
    from: "999999940000",
    until: "1000000000000",
  });
});

test("zooming out doubles, ends no later than now, and stays relative where it ends now", () => {
  assert.deepEqual(zoomedOut(hour, now), { from: "now-2h", until: "now" });
  assert.deepEqual(zoomedOut({ from: "now-45s", until: "now" }, now), { from: "now-90s", until: "now" });
  assert.deepEqual(zoomedOut({ from: "1000000000000", until: "1000000010000" }, now), {
    from: "999999995000",
    until: "1000000015000",
  });
  const late = zoomedOut({ from: String(now - 10_000), until: String(now) }, now);
  assert.deepEqual(late, { from: String(now - 20_000), until: String(now) });
});

test("pinning makes both ends absolute, unpinning gives the same length up to now", () => {
  assert.deepEqual(pinned(hour, now), { from: String(now - 3600e3), until: String(now) });
  assert.deepEqual(unpinned(pinned(hour, now), now + 5000), hour);
});

test("a wrong range is told", () => {
  assert.equal(complaintOf(hour, now), "");
  assert.match(complaintOf({ from: "soon", until: "now" }, now), /“soon” is no time/);
  assert.match(complaintOf({ from: "now", until: "now-1h" }, now), /ends before/);
  assert.match(complaintOf({ from: "now", until: "now" }, now), /ends before/);
});

test("ranges have names", () => {
  assert.equal(nameOfRange(hour, "utc", now), "Last hour");
  assert.equal(nameOfRange({ from: "now-3600s", until: "now" }, "utc", now), "Last hour");
  assert.equal(nameOfRange({ from: "now-10m", until: "now" }, "utc", now), "Last 10 min");
  assert.equal(nameOfRange({ from: "now-2h", until: "now-1h" }, "utc", now), "2 h ago to 1 h ago");
  assert.equal(
    nameOfRange({ from: String(now - 3600e3), until: String(now) }, "utc", now),
    "2026-11-16 05:00 to 06:00",
  );
  assert.equal(
    nameOfRange({ from: String(now - 86400e3), until: String(now) }, "utc", now),
    "2026-11-15 06:00 to 2026-11-16 06:00",
  );
  assert.equal(nameOfRange({ from: "x", until: "now" }, "utc", now), "x to now");
});

test("fields of forms are read as they are written", () => {
  for (const zone of ["utc", "local"] as const) assert.equal(fromField(toField(now, zone), zone), now);
  assert.equal(toField(now, "utc"), "2026-11-16T06:00:00");
  assert.equal(toField(NaN, "utc"), "");
  assert.ok(Number.isNaN(fromField("", "utc")));
  assert.equal(resolveTime("2026-11-16T06:00:00Z", now), now);
});
