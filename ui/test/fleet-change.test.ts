// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, meanOf, normalOf, verdictTexts, withoutStep, worseRank, type Verdict } from "../src/lib/change.ts";

/** Numbers that look random and are the same at each run. */
function noise(n: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: n }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648 - 0.5;
  });
}
const around = (mean: number, spread: number, n = 30, seed = 1) => noise(n, seed).map((value) => mean + value * spread);

test("a clear rise is surely more, and a clear fall surely less", () => {
  const up = changeOf(around(1, 0.1, 30, 1), around(1.5, 0.1, 30, 2));
  assert.equal(up.verdict, "surely-more");
  assert.ok(up.z > 3);
  assert.ok(Math.abs(up.share! - 0.5) < 0.05);
  assert.ok(up.error! > 0 && up.error! < 0.02);
  const down = changeOf(around(1.5, 0.1, 30, 2), around(1, 0.1, 30, 1));
  assert.equal(down.verdict, "surely-less");
  assert.ok(down.z < -3);
});

test("noise alone is no clear change, in all but few of many tries", () => {
  let nClaims = 0;
  let nSure = 0;
  for (let i = 0; i < 500; i++) {
    const { verdict } = changeOf(around(1, 0.8, 30, 2 * i + 1), around(1, 0.8, 30, 2 * i + 2));
    if (verdict !== "unclear") nClaims++;
    if (verdict.startsWith("surely")) nSure++;
  }
  assert.ok(nClaims < 500 * 0.08, `${nClaims} of 500 were called changes`);
  assert.ok(nSure < 500 * 0.012, `${nSure} of 500 were called sure`);
});

test("what every day brings is no change, and does not hide one", () => {
  const day = Array.from({ length: 48 }, (_, i) => 2 + Math.sin(i / 8));
  const jitter = around(0, 0.05, 48, 7);
  const same = day.map((value, i) => value + jitter[i]);
  assert.equal(changeOf(day, same).verdict, "unclear");
  assert.equal(changeOf(day, same.map((value) => value * 1.08)).verdict, "surely-more");
});

test("a slow swing in one range is not taken for many independent points", () => {
  const flat = around(1, 0.02, 30, 3);
  const swing = Array.from({ length: 30 }, (_, i) => 1 + Math.sin(i / 10) * 0.5);
  const { verdict } = changeOf(flat, swing);
  assert.ok(!verdict.startsWith("surely"), verdict);
});

test("nothing before is new, nothing after is gone, nothing at all is none", () => {
  assert.equal(changeOf(null, [1, 2, 3]).verdict, "new");
  assert.equal(changeOf([null, null], [1, 2, 3]).verdict, "new");
  assert.equal(changeOf([0, 0, 0], [1, 1, 1]).verdict, "new");
  assert.equal(changeOf([1, 2, 3], null).verdict, "gone");
  assert.equal(changeOf([1, 2, 3], [0, 0, 0]).verdict, "gone");
  assert.equal(changeOf(null, null).verdict, "none");
  assert.equal(changeOf([], []).verdict, "none");
  const fresh = changeOf(null, [1, 2, 3]);
  assert.deepEqual([fresh.before, fresh.after, fresh.delta, fresh.share, fresh.error], [null, 2, 2, null, null]);
});

test("zero on both sides is no clear change, without dividing by it", () => {
  const change = changeOf([0, 0, 0, 0], [0, 0, 0, 0]);
  assert.equal(change.verdict, "unclear");
  assert.equal(change.share, null);
  assert.equal(change.z, 0);
});

test("too few points are too little to tell", () => {
  assert.equal(changeOf([1, 1], [5, 5, 5]).verdict, "unknown");
  assert.equal(changeOf([1, 1, 1], [5, null, null]).verdict, "unknown");
});

test("values without any spread differ surely if they differ at all", () => {
  assert.equal(changeOf([1, 1, 1, 1], [2, 2, 2, 2]).verdict, "surely-more");
  assert.equal(changeOf([1, 1, 1, 1], [1, 1, 1, 1]).verdict, "unclear");
});

test("a sure change that is negligible is no clear change", () => {
  assert.equal(changeOf(around(1, 0.0001, 30, 1), around(1.004, 0.0001, 30, 2)).verdict, "unclear");
});

test("negative values and values that are no numbers do no harm", () => {
  const change = changeOf(around(-2, 0.1, 20, 1), around(-1, 0.1, 20, 2));
  assert.equal(change.verdict, "surely-more");
  assert.ok(change.share! > 0, "less negative is more");
  assert.equal(changeOf([NaN, Infinity, 1, 1, 1], [1, 1, 1]).before, 1);
  assert.equal(changeOf([2 ** 62, 2 ** 62, 2 ** 62], [2 ** 62, 2 ** 62, 2 ** 62]).verdict, "unclear");
});

test("points that are missing on one side fall back to comparing heaps", () => {
  const before = around(1, 0.1, 20, 1).map((value, i) => (i < 10 ? value : null));
  const after = around(2, 0.1, 20, 2).map((value, i) => (i >= 10 ? value : null));
  assert.equal(changeOf(before, after).verdict, "surely-more");
});

test("the mean leaves out points without profiles", () => {
  assert.equal(meanOf([null, 2, null, 4]), 3);
  assert.equal(meanOf([null]), null);
});

test("few points make a large t less sure", () => {
  assert.ok(Math.abs(normalOf(4, 3) - 2.2) < 0.05, "one in 71 by chance, as tables of t have it");
  assert.ok(Math.abs(normalOf(-50, 4) + 4.9) < 0.15, "one in two million");
  assert.ok(Math.abs(normalOf(2, 1e6) - 2) < 1e-3);
  assert.equal(normalOf(Infinity, 3), Infinity);
});

test("the surest worsening ranks first, what is gone last but one", () => {
  const verdicts = Object.keys(verdictTexts) as Verdict[];
  verdicts.sort((a, b) => worseRank(b) - worseRank(a));
  assert.deepEqual(verdicts, ["surely-more", "new", "probably-more", "unclear", "unknown", "probably-less", "surely-less", "gone", "none"]);
});

test("what is sure of one is less sure of one among thousands", () => {
  const before = around(1, 0.4, 30, 11);
  const after = around(1.18, 0.4, 30, 12);
  const { z } = changeOf(before, after);
  assert.ok(z > 3 && z < 4.2, String(z));
  assert.equal(changeOf(before, after).verdict, "surely-more");
  assert.equal(changeOf(before, after, 10000).verdict, "probably-more");
});

test("a step in the middle of the range is a change", () => {
  const noise = (i: number) => ((i * 7919) % 13) / 100;
  const before = Array.from({ length: 60 }, (_, i) => 3 + noise(i));
  const after = Array.from({ length: 60 }, (_, i) => (i < 20 ? 3 : 4) + noise(i + 31));
  assert.equal(changeOf(before, after).verdict, "surely-more");
  assert.equal(changeOf(after, before).verdict, "surely-less");
});

test("one point that sticks out is no change", () => {
  const noise = (i: number) => ((i * 7919) % 13) / 100;
  const before = Array.from({ length: 60 }, (_, i) => 3 + noise(i));
  const after = Array.from({ length: 60 }, (_, i) => (i === 30 ? 50 : 3) + noise(i + 31));
  assert.equal(changeOf(before, after).verdict, "unclear");
});

test("the step that is taken out leaves what is left to chance", () => {
  assert.deepEqual(withoutStep([1, 1, 1, 1, 5, 5, 5, 5]), [0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(withoutStep([1, 2]), [1, 2]);
  assert.deepEqual(withoutStep([]), []);
});
