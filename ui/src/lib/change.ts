// SPDX-License-Identifier: Apache-2.0
// Whether values over time changed between two ranges, and how surely. Points are compared step by step of the day where both
// ranges have them, so that what every day brings is no change; else as two heaps (Welch's t). Neighbouring points that
// resemble each other count for less than so many: they say the same thing twice; one step within a range is a change and no
// noise. The limits are those of docs/sampling-error.md: three standard errors are sure, and more where many things are
// compared at once.

export type Points = readonly (number | null)[];

export type Verdict = "surely-more" | "new" | "probably-more" | "unclear" | "unknown" | "probably-less" | "surely-less" | "gone" | "none";

export interface Change {
  before: number | null; // mean of the points that have profiles
  after: number | null;
  delta: number; // after - before; nothing counts as 0
  share: number | null; // delta as a part of before; null where there was nothing before
  error: number | null; // one standard error of delta
  z: number; // delta in standard errors, as if points were many; 0 where it cannot be told
  verdict: Verdict;
}

const SURE = 3;
const PROBABLE = 2;
/** Less than this part of the value is nothing to look at, however sure it is. */
const NEGLIGIBLE = 0.01;
const MIN_POINTS = 3;

interface Heap {
  n: number; // points that count
  variance: number;
}

const isPoint = (value: number | null | undefined): value is number => typeof value === "number" && Number.isFinite(value);

export function meanOf(points: Points): number | null {
  let sum = 0;
  let n = 0;
  for (const value of points) {
    if (!isPoint(value)) continue;
    sum += value;
    n++;
  }
  return n === 0 ? null : sum / n;
}

/** How much each value resembles the one before: 0 (not at all, or the opposite) to 0.9. */
function likeness(values: readonly number[], mean: number): number {
  let own = 0;
  let next = 0;
  for (let i = 0; i < values.length; i++) {
    own += (values[i] - mean) ** 2;
    if (i > 0) next += (values[i] - mean) * (values[i - 1] - mean);
  }
  return own === 0 ? 0 : Math.max(0, Math.min(0.9, next / own));
}

/* Mean, and the place and height of the step that withoutStep() took out. */
const N_FITTED = 3;

/** What chance makes of values, a step in them aside. */
function heapOf(all: readonly number[]): Heap {
  const values = withoutStep(all);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const alike = likeness(values, mean);
  return { n: Math.max(2, (values.length * (1 - alike)) / (1 + alike)), variance: squares / Math.max(1, values.length - N_FITTED) };
}

/** The values without the one step up or down that explains most of them: a release in the middle of the range is what was
 * asked for, not chance. A few points on their own are no step. */
export function withoutStep(values: readonly number[]): number[] {
  const n = values.length;
  const least = Math.max(MIN_POINTS, Math.ceil(n / 10));
  const whole = values.reduce((sum, value) => sum + value, 0);
  let [at, best, sumBefore] = [0, 0, 0];
  let sum = 0;
  for (let i = 1; i < n; i++) {
    sum += values[i - 1];
    if (i < least || n - i < least) continue;
    const gain = (sum / i - (whole - sum) / (n - i)) ** 2 * i * (n - i);
    if (gain > best) [at, best, sumBefore] = [i, gain, sum];
  }
  if (at === 0) return [...values];
  return values.map((value, i) => value - (i < at ? sumBefore / at : (whole - sumBefore) / (n - at)));
}

/** Student's t as a number of standard errors: what is as unlikely when points are many (Wallace's approximation). */
export function normalOf(t: number, freedom: number): number {
  if (!Number.isFinite(t)) return t;
  return (Math.sign(t) * Math.sqrt(freedom * Math.log1p((t * t) / freedom)) * (8 * freedom + 1)) / (8 * freedom + 3);
}

function zOf(delta: number, error: number, freedom: number): number {
  if (delta === 0) return 0;
  return error > 0 ? normalOf(delta / error, freedom) : Math.sign(delta) * Infinity;
}

/** Points that both ranges have, as pairs; null if these are too few to stand for the ranges. */
function pairsOf(before: Points, after: Points, nBefore: number, nAfter: number): [number, number][] | null {
  const found: [number, number][] = [];
  for (let i = 0; i < Math.min(before.length, after.length); i++) {
    const a = before[i];
    const b = after[i];
    if (isPoint(a) && isPoint(b)) found.push([a, b]);
  }
  return found.length >= 2 * MIN_POINTS && found.length * 2 >= Math.max(nBefore, nAfter) ? found : null;
}

/* Load that rises by a tenth rises by more at noon than at night, so what is left to chance is how far each point is from
 * `ratio` times the one of the day before (the ratio estimator of sampling theory). */
function errorOf(before: Points, after: Points, a: number[], b: number[], ratio: number): { error: number; freedom: number } {
  const pairs = pairsOf(before, after, a.length, b.length);
  if (pairs) {
    const heap = heapOf(pairs.map(([old, now]) => now - ratio * old));
    return { error: Math.sqrt(heap.variance / heap.n), freedom: Math.max(1, heap.n - 1) };
  }
  const [one, two] = [heapOf(a), heapOf(b)];
  const [u, v] = [one.variance / one.n, two.variance / two.n];
  const freedom = u + v === 0 ? one.n + two.n - 2 : (u + v) ** 2 / (u ** 2 / (one.n - 1) + v ** 2 / (two.n - 1));
  return { error: Math.sqrt(u + v), freedom: Math.max(1, freedom) };
}

/** How many standard errors a change must have to be sure, where `n` things are compared: of thousands that did not change, some
 * exceed 3 by chance, so that all together are wrong in one of 20 comparisons. At least 3. */
export function limitOf(n: number): number {
  const t = Math.sqrt(-2 * Math.log(0.025 / Math.max(1, n))); /* the tail of the normal distribution, by Hastings */
  return Math.max(SURE, t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3));
}

function verdictOf(z: number, share: number | null, sure: number): Verdict {
  if (share !== null && Math.abs(share) < NEGLIGIBLE) return "unclear";
  if (z > sure) return "surely-more";
  if (z < -sure) return "surely-less";
  if (z > PROBABLE) return "probably-more";
  if (z < -PROBABLE) return "probably-less";
  return "unclear";
}

/** What changed from `before` to `after`; null where there is no such range at all. Points at the same place are of the same
 * time of day. `nCompared` is of how many such changes this is one. */
export function changeOf(before: Points | null, after: Points | null, nCompared = 1): Change {
  const a = (before ?? []).filter(isPoint);
  const b = (after ?? []).filter(isPoint);
  const [meanBefore, meanAfter] = [meanOf(a), meanOf(b)];
  const delta = (meanAfter ?? 0) - (meanBefore ?? 0);
  const share = meanBefore === null || meanBefore === 0 ? null : delta / Math.abs(meanBefore);
  const known = { before: meanBefore, after: meanAfter, delta, share, error: null, z: 0 };
  if (meanBefore === null && meanAfter === null) return { ...known, verdict: "none" };
  if (meanBefore === null || (meanBefore === 0 && delta > 0)) return { ...known, verdict: "new" };
  if (meanAfter === null || (meanAfter === 0 && delta < 0)) return { ...known, verdict: "gone" };
  if (a.length < MIN_POINTS || b.length < MIN_POINTS) return { ...known, verdict: "unknown" };
  const { error, freedom } = errorOf(before!, after!, a, b, meanBefore === 0 ? 1 : meanAfter / meanBefore);
  const z = zOf(delta, error, freedom);
  return { ...known, error, z, verdict: verdictOf(z, share, limitOf(nCompared)) };
}

export const verdictTexts: Record<Verdict, string> = {
  "surely-more": "surely more",
  "probably-more": "probably more",
  unclear: "no clear change",
  unknown: "too little to tell",
  "probably-less": "probably less",
  "surely-less": "surely less",
  new: "new",
  gone: "gone",
  none: "",
};

/* The order of verdicts, the worst first. */
const order: Verdict[] = ["surely-more", "new", "probably-more", "unclear", "unknown", "probably-less", "surely-less", "gone", "none"];

/** A number for sorting: the larger, the surer it got worse. */
export function worseRank(verdict: Verdict): number {
  return order.length - order.indexOf(verdict);
}

export function isMore(verdict: Verdict): boolean {
  return verdict === "surely-more" || verdict === "probably-more" || verdict === "new";
}

export function isLess(verdict: Verdict): boolean {
  return verdict === "surely-less" || verdict === "probably-less" || verdict === "gone";
}
