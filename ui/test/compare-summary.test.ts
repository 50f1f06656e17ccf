// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Delta, Diff, DiffFunction, DiffVerdict } from "../src/api/diff.ts";
import { sortedChanges, percentOf, verdictText } from "../src/views/compare/Changes.tsx";
import { limitOf } from "../src/lib/change.ts";
import { measureOf, signed, surenessOf, summaryOf } from "../src/views/compare/summary.ts";

function delta(before: number, after: number, verdict: DiffVerdict = "significant", error: number | null = 1e8): Delta {
  return {
    before, after, delta: after - before, share_before: 0, share_after: 0, percent: before === 0 ? null : (after / before - 1) * 100, error,
    mark: before === 0 && after !== 0 ? "new" : after === 0 && before !== 0 ? "gone" : "", verdict,
  };
}
const fn = (name: string, before: number, after: number, verdict?: DiffVerdict, error?: number | null): DiffFunction => ({
  name, self: delta(before, after, verdict, error), total: delta(before, after, verdict, error),
});

function diff(before: number, after: number, functions: DiffFunction[], change: Partial<Diff> = {}): Diff {
  const side = (total: number) => ({ query: "", from_ns: 0, until_ns: 3600e9, averaged: false, profiles: 60, total, duration_ns: 3600e9, samples: Math.abs(total) / 1e7 });
  return { type: "cpu", unit: "nanoseconds", scaling: "equal durations", factor: 1, before: side(before), after: side(after), functions, not_shown: 0, ...change };
}

test("the sentence says how much more it is, and what accounts for it, with its error", () => {
  const text = summaryOf(diff(3600e9, 4032e9, [fn("hash_block", 1000e9, 1400e9), fn("parse", 500e9, 520e9)]), 1);
  assert.equal(text, "After is 12 % more CPU per second; hash_block alone accounts for nearly all of it (+0.111 cores ± 0.000028).");
});

test("less is said as less", () => {
  const text = summaryOf(diff(4000e9, 2000e9, [fn("a", 3000e9, 1800e9, "significant")]), null);
  assert.equal(text, "After is 50 % less CPU per second; a alone accounts for most of it (−20 min ± 100 ms).");
});

test("without a known number of cores values keep their unit", () => {
  assert.match(summaryOf(diff(60e9, 120e9, [fn("a", 0, 60e9)]), null), /a, which is new, alone accounts for nearly all of it \(\+1 min ± 100 ms\)/);
});

test("nothing before, nothing after, and nothing at all", () => {
  assert.match(summaryOf(diff(0, 5e9, [fn("a", 0, 5e9)]), 1), /^Before there was nothing, after there is 5 s; a, which is new, alone accounts for nearly all of it/);
  assert.match(summaryOf(diff(5e9, 0, [fn("a", 5e9, 0, "significant")]), null), /^Before there was 5 s, after there is nothing; a, which is gone, alone accounts/);
  assert.equal(summaryOf(diff(0, 0, []), null), "Both sides are empty: there is nothing to compare.");
});

test("changes within chance are no changes", () => {
  const text = summaryOf(diff(100e9, 100.5e9, [fn("a", 50e9, 50.5e9, "within noise")]), null);
  assert.equal(text, "After is as much CPU per second as before, as far as samples can tell; no function changed by more than chance.");
});

test("unknown samples are told, and functions are named all the same", () => {
  const change = diff(100e9, 150e9, [fn("a", 50e9, 100e9, "unknown", null)]);
  change.before.samples = null;
  change.after.samples = null;
  const text = summaryOf(change, 2);
  assert.match(text, /^After is 50 % more CPU per second; a alone accounts for nearly all of it \(\+1 cores?\)\. How sure this is cannot be told/);
});

test("equal totals compare shares and say nothing of more or less", () => {
  const text = summaryOf(diff(100e9, 300e9, [fn("a", 20e9, 30e9), fn("b", 30e9, 20e9, "significant")], { scaling: "equal totals", factor: 1 / 3 }), 1);
  assert.match(text, /^Both sides are scaled to the same total; a grew most \(\+10 % ± 0.1 %\), then b \(−10 % ± 0.1 %\)\.$/);
});

test("a function that moved against the whole is no reason for it", () => {
  const text = summaryOf(diff(100e9, 120e9, [fn("a", 50e9, 10e9, "significant"), fn("b", 10e9, 35e9), fn("c", 10e9, 45e9)]), null);
  assert.match(text, /; a shrank most \(−40 s ± 100 ms\), then c \(\+35 s/);
});

test("negative values are told as they are", () => {
  const text = summaryOf(diff(-5e9, 5e9, [fn("a", -5e9, 5e9)]), 1);
  assert.match(text, /^After is 5 s, before was -5 s; a alone/);
});

test("levels are told on their own, not per second", () => {
  const change = diff(1024 ** 2, 2 * 1024 ** 2, [fn("a", 0, 1024 ** 2, "unknown", null)], { type: "inuse_space", unit: "bytes" });
  change.before.averaged = change.after.averaged = true;
  change.before.samples = change.after.samples = null;
  assert.match(summaryOf(change, null), /^After is 100 % more memory in use; a, which is new, alone accounts for nearly all of it \(\+1 MiB\)/);
});

test("many times as much is said so, and huge values do no harm", () => {
  assert.match(summaryOf(diff(1e9, 50e9, [fn("a", 1e9, 50e9)]), null), /^After is 50 times as much CPU per second/);
  assert.match(summaryOf(diff(2 ** 62, 2 ** 62, [fn("a", 2 ** 61, 2 ** 61, "within noise")]), null), /no function changed/);
});

test("names of any length and kind stand in the sentence as they are, cut at 120 characters", () => {
  const text = summaryOf(diff(1e9, 2e9, [fn("<b>x</b>".repeat(2000), 0, 1e9)]), null);
  assert.ok(text.length < 400);
  assert.ok(text.includes("<b>x</b>"));
  assert.match(summaryOf(diff(1e9, 2e9, [fn("", 0, 1e9)]), null), /\(no name\)/);
});

test("values are told by what the comparison is about", () => {
  assert.equal(measureOf(diff(100e9, 100e9, []), 2).format(50e9), "1 core");
  assert.equal(measureOf(diff(100e9, 100e9, [], { scaling: "not scaled" }), 2).format(50e9), "50 s");
  assert.equal(measureOf(diff(0, 1, [], { scaling: "equal totals" }), 2).format(1), "–");
  const spans = diff(60e9, 10e9, [], { scaling: "equal counts", factor: 6 });
  spans.before.spans = 60;
  assert.equal(measureOf(spans, null).format(30e9), "500 ms");
  assert.equal(measureOf(spans, null).what, "CPU per span");
  assert.equal(signed(0, String), "±0");
  assert.equal(signed(-2, String), "−2");
});

/* An answer of the server about the two files in examples/: tests/e2e/pagedata.sh makes it, and sees that it is still so. */
const answer = JSON.parse(readFileSync(join(process.env.HEARTH_UI!, "../tests/golden/page-checkout-diff.json"), "utf8")) as Diff;

test("the answer of a server is told as what it is", () => {
  assert.equal(summaryOf(answer, null), "Both sides are scaled to the same total; regex::Parser::parse, which is new, grew most (+4.09 % ± 0.2 %), then utf8::validate (−2.86 % ± 0.21 %).");
  const told = new Map(answer.functions.map((one) => [one.name, verdictText(one.self, 114)]));
  assert.equal(told.get("regex::Parser::parse"), "new");
  assert.equal(told.get("utf8::validate"), "surely less");
  assert.equal(told.get("_int_malloc"), "surely more");
  assert.equal(told.get("json::skip_plain"), "within chance");
});

test("changes within chance come last, the others by size, unless sorted otherwise", () => {
  const names = (id: string, isDescending: boolean) => sortedChanges(answer.functions, { id, isDescending }).map((one) => one.name);
  assert.deepEqual(names("most", true).slice(0, 3), ["regex::Parser::parse", "utf8::validate", "regex::Program::emit"]);
  assert.equal(names("self", false)[0], "utf8::validate");
  assert.deepEqual(names("name", false), [...names("name", true)].reverse());
  assert.deepEqual(sortedChanges([fn("a", 100, 150, "within noise"), fn("b", 1, 2)], { id: "most", isDescending: true }).map((one) => one.name), ["b", "a"]);
});

test("the more functions are compared, the more it takes to be sure", () => {
  assert.equal(limitOf(1), 3);
  assert.ok(Math.abs(limitOf(100) - 3.48) < 0.01);
  assert.ok(Math.abs(limitOf(2000) - 4.21) < 0.01);
  const change = delta(100, 140, "significant", 10);
  assert.deepEqual([surenessOf(change, 10), surenessOf(change, 2000)], ["sure", "probable"]);
  assert.deepEqual([verdictText(change, 10), verdictText(change, 2000)], ["surely more", "probably more"]);
  assert.equal(surenessOf(delta(100, 140, "unknown", null), 10), "unknown");
  const many = diff(100e9, 100e9, [fn("a", 1e9, 1.4e9, "significant", 1e8)], { not_shown: 2000 });
  assert.match(summaryOf(many, null), /no function changed by more than chance\.$/);
});

test("percentages have a sign, and what is new has a word", () => {
  assert.deepEqual([delta(10, 12), delta(10, 9.95), delta(0, 5), delta(5, 0), delta(0, 0)].map(percentOf), ["+20 %", "−0.5 %", "new", "−100 %", "–"]);
});
