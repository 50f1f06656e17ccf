// SPDX-License-Identifier: Apache-2.0
// How far sampling alone may have put a value off, and whether a change is more than that: docs/sampling-error.md. The raw
// samples behind a value are those of the profile in proportion to the value.

import type { FlameTree } from "./tree.ts";

/** Raw samples behind a value of a column; null if those of the profile are unknown. */
export function samplesBehind(tree: FlameTree, value: number, column = 0): number | null {
  const samples = tree.samples[column] ?? null;
  const total = tree.totals[column];
  if (samples === null || !total) return null;
  const factor = column === 1 ? tree.factor : 1;
  return Math.abs((samples * value) / (total * factor));
}

/** The standard error of a value (of `value` itself, not relative); null if it is unknown. */
export function standardError(tree: FlameTree, value: number, column = 0): number | null {
  const samples = samplesBehind(tree, value, column);
  if (samples === null) return null;
  return samples > 0 ? Math.abs(value) / Math.sqrt(samples) : 0;
}

/** By how many standard errors a function changed, `after` being multiplied by the factor of the tree; null if unknown. */
export function changeInErrors(tree: FlameTree, before: number, after: number): number | null {
  const nBefore = samplesBehind(tree, before, 0);
  const nAfter = samplesBehind(tree, after, 1);
  const [samplesBefore, samplesAfter] = tree.samples;
  if (nBefore === null || nAfter === null || !samplesBefore || !samplesAfter) return null;
  const weightBefore = Math.abs(tree.totals[0]) / samplesBefore;
  const weightAfter = Math.abs(tree.totals[1] * tree.factor) / samplesAfter;
  let variance = (nBefore + nAfter) * weightBefore * weightAfter;
  if (isScaledToTotals(tree)) {
    const share = (before / tree.totals[0] + after / (tree.totals[1] * tree.factor)) / 2;
    variance *= Math.max(0, 1 - Math.min(1, share));
  }
  const error = Math.sqrt(variance);
  if (error === 0) return 0;
  const z = (after - before) / error;
  const n = nBefore + nAfter;
  const p = weightBefore / (weightBefore + weightAfter);
  if (Math.abs(z) <= 1 || n * Math.min(p, 1 - p) >= FEW_SAMPLES) return z;
  const scale = error / Math.sqrt(n * weightBefore * weightAfter);
  return Math.sign(z) * Math.min(Math.abs(z), Math.max(1, fewSamplesZ(n, nAfter, p)) / scale);
}

/** Expected samples on either side below which the normal approximation is too bold. */
const FEW_SAMPLES = 10;

function deviancePart(seen: number, expected: number): number {
  return seen > 0 ? 2 * seen * Math.log(seen / expected) : 0;
}

/** How many standard errors it is worth that `nAfter` of `n` samples fell on a side with probability `p`, as the server has it. */
function fewSamplesZ(n: number, nAfter: number, p: number): number {
  const expected = n * p;
  const seen = nAfter > expected ? Math.max(nAfter - 0.5, expected) : Math.min(nAfter + 0.5, expected);
  return Math.sqrt(Math.max(0, deviancePart(seen, expected) + deviancePart(n - seen, n - expected)));
}

/** More than chance would do to one of 370 functions that did not change. */
export const SIGNIFICANT = 3;

function isScaledToTotals(tree: FlameTree): boolean {
  return tree.factor !== 1 && Math.abs(tree.totals[1] * tree.factor - tree.totals[0]) <= Math.abs(tree.totals[0]) * 1e-9;
}
