// SPDX-License-Identifier: Apache-2.0
// The state of a comparison of slow spans with fast ones in the URL: `query`, `from`, `until`, `operation` and `share`.
// Samples of the spans below count as well unless `attribution=own` is there: many senders link samples to the innermost span, and
// then the spans of an operation have next to none of their own.

import type { Selection } from "../../api/diff.ts";
import type { SlowFastQuestion } from "../../api/slowfast.ts";
import { urlOf, type Params } from "../../lib/route.ts";
import { defaultRange } from "../../lib/time.ts";

export const defaultShare = "5%";

export function isSlowFast(params: ReadonlyMap<string, string>): boolean {
  return params.has("operation") || params.has("share");
}

export function slowFastStateOf(params: ReadonlyMap<string, string>): SlowFastQuestion {
  const get = (name: string) => params.get(name) ?? "";
  return {
    query: get("query"),
    range: { from: get("from") || defaultRange.from, until: get("until") || defaultRange.until },
    operation: get("operation"),
    share: get("share") || defaultShare,
    attribution: get("attribution") === "own" ? "" : "root",
  };
}

/** Parameters that say this state. The share is always there: it says what kind of comparison it is. */
export function slowFastParams({ query, range, operation, share, attribution }: SlowFastQuestion): Params {
  const isDefault = range.from === defaultRange.from && range.until === defaultRange.until;
  return {
    query: query || null,
    from: isDefault ? null : range.from,
    until: isDefault ? null : range.until,
    operation: operation || null,
    share,
    attribution: attribution === "" ? "own" : null,
  };
}

export function slowFastUrl({ query, range }: Selection): string {
  return urlOf("compare", slowFastParams({ query, range, operation: "", share: defaultShare, attribution: "root" }));
}

/** A share as the server reads it, "5%", from what somebody typed: 5, 5 %, 0,5%; null if it is none that the server takes. */
export function parseShare(text: string): string | null {
  const found = /^\s*(\d{1,3}(?:[.,]\d{1,4})?)\s*%?\s*$/.exec(text);
  const percent = found ? Number(found[1].replace(",", ".")) : NaN;
  return percent >= 0.01 && percent <= 90 ? `${percent}%` : null;
}

/** What both sides are called: Fastest 95 %, Slowest 5 %. */
export function titlesOf(share: string): { fast: string; slow: string } {
  const percent = Number(share.replace("%", ""));
  const rest = Number((100 - percent).toFixed(4));
  return Number.isNaN(rest) ? { fast: "The rest", slow: "Slowest" } : { fast: `Fastest ${rest} %`, slow: `Slowest ${percent} %` };
}
