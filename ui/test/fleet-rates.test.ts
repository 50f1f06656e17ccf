// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source } from "../src/api/status.ts";
import { keyOf, lookOf, ratesOf, withLook, type Look } from "../src/views/status/rates.ts";

const source = (service: string, uploads: number, dropped: Record<string, number> = {}): Source => ({
  tenant: "anonymous", service, sender: "otlp", uploads, seen: uploads, stored: uploads, downsampled: 0, weighted: 0, spilled: 0, dropped,
  samples: uploads * 10, bytes: uploads * 100, first_seen: null, last_seen: null, last_error_at: null, last_error: "",
});
const look = (atMs: number, sources: Source[], started = "a") => lookOf(atMs, started, sources);

test("rates are differences per second, of each source and of all", () => {
  const rates = ratesOf([look(0, [source("a", 10), source("b", 0)]), look(5000, [source("a", 20), source("b", 5, { late: 10 })])])!;
  assert.equal(rates.all.uploads, 3);
  assert.equal(rates.all.samples, 30);
  assert.equal(rates.all.dropped, 2);
  assert.equal(rates.each.get(keyOf(source("a", 0)))!.bytes, 200);
});

test("a source that is new began at nothing, and one that went counts for nothing", () => {
  const rates = ratesOf([look(0, [source("a", 10)]), look(1000, [source("b", 4)])])!;
  assert.equal(rates.all.uploads, 4);
  assert.equal(rates.each.size, 1);
});

test("there are no rates at the first look, without time between, or across a restart", () => {
  assert.equal(ratesOf([]), null);
  assert.equal(ratesOf([look(0, [])]), null);
  assert.equal(ratesOf([look(5, []), look(5, [])]), null);
  assert.equal(ratesOf(withLook([look(0, [source("a", 10)])], look(1000, [source("a", 1)], "b"))), null);
});

test("looks are kept for half a minute, and the one before that", () => {
  let looks: Look[] = [];
  for (let i = 0; i <= 20; i++) looks = withLook(looks, look(i * 5000, []));
  assert.deepEqual(looks.map((one) => one.atMs / 1000), [70, 75, 80, 85, 90, 95, 100]);
});

test("a counter that fell is no negative rate", () => {
  assert.equal(ratesOf([look(0, [source("a", 10)]), look(1000, [source("a", 1)])])!.all.uploads, 0);
});
