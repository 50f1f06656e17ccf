// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAgo, formatDelta, formatNumber, formatShare, formatTime, formatValue } from "../src/lib/format.ts";

test("numbers have three digits that matter", () => {
  assert.equal(formatNumber(0), "0");
  assert.equal(formatNumber(1.2345), "1.23");
  assert.equal(formatNumber(12.345), "12.3");
  assert.equal(formatNumber(1234567), "1 234 567");
  assert.equal(formatNumber(0.012345), "0.0123");
  assert.equal(formatNumber(1e-12), "0");
  assert.equal(formatNumber(NaN), "–");
  assert.equal(formatNumber(-1.5), "-1.5");
});

test("values are shown in the unit that suits them", () => {
  assert.equal(formatValue(1_500_000_000, "nanoseconds"), "1.5 s");
  assert.equal(formatValue(90e9, "nanoseconds"), "1.5 min");
  assert.equal(formatValue(2500, "microseconds"), "2.5 ms");
  assert.equal(formatValue(3 * 1024 * 1024, "bytes"), "3 MiB");
  assert.equal(formatValue(1023.9, "bytes"), "1 KiB");
  assert.equal(formatValue(12_345, "count"), "12.3 k");
  assert.equal(formatValue(7, "lemons"), "7 lemons");
  assert.equal(formatValue(0, "nanoseconds"), "0 ns");
  assert.equal(formatValue(250_000_000, "nanoseconds/second"), "0.25 cores");
  assert.equal(formatValue(2048, "bytes/second"), "2 KiB/s");
  assert.equal(formatValue(2 ** 62, "bytes"), "4 096 PiB");
});

test("differences have their sign", () => {
  assert.equal(formatDelta(1e9, "nanoseconds"), "+1 s");
  assert.equal(formatDelta(-2048, "bytes"), "−2 KiB");
  assert.equal(formatDelta(0, "bytes"), "±0");
});

test("shares are percent, and what is nearly nothing is not nothing", () => {
  assert.equal(formatShare(0.5), "50.0 %");
  assert.equal(formatShare(1), "100 %");
  assert.equal(formatShare(0), "0.00 %");
  assert.equal(formatShare(0.00001), "< 0.01 %");
  assert.equal(formatShare(NaN), "–");
  assert.equal(formatShare(0 / 0), "–");
});

test("times are in UTC if asked", () => {
  assert.equal(formatTime(Date.UTC(2026, 10, 16, 5, 53, 6), "utc"), "2026-11-16 05:53:06");
  assert.equal(formatTime(Date.UTC(2026, 10, 16, 5, 53, 6), "utc", false), "2026-11-16 05:53");
  assert.equal(formatTime(NaN, "utc"), "–");
  assert.equal(formatAgo(0, 90_000), "1.5 min ago");
  assert.equal(formatAgo(0, 10), "just now");
});
