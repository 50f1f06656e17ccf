// SPDX-License-Identifier: Apache-2.0
// Stands in for spans of the shop, which has none: the slowest spans of an operation are what came after the new version.

import { rangeOf } from "./addresses.ts";
import type { Rule } from "./front.ts";

export const slowFastMessage = "Slowest are 50 of 1,000 spans of POST /checkout, those of 120 ms and more.";

const operations = [
  { service: "checkout", operation: "GET /cart", n_spans: 400 },
  { service: "checkout", operation: "POST /checkout", n_spans: 1000 },
  { service: "checkout", operation: "<img src=x onerror=alert(1)>", n_spans: 1 },
];

export function spanRules(): Rule[] {
  const [before, after] = [rangeOf(60, 40), rangeOf(40, 0)];
  return [
    { path: /api\/v1\/operations/, answer: { status: 200, type: "application/json", body: JSON.stringify({ operations, is_cut: false }) } },
    {
      path: /api\/v1\/slow-fast/,
      headers: { "x-hearth-messages": JSON.stringify([{ level: "info", text: slowFastMessage }]) },
      instead: (params) => {
        const asked = new URLSearchParams({
          baseline: params.get("query") ?? "", comparison: params.get("query") ?? "", scale: "totals",
          "baseline-from": before.from, "baseline-until": before.until, until: after.until, "time-range": "40m",
        });
        for (const name of ["format", "rows", "max-nodes", "min-share", "path"]) if (params.has(name)) asked.set(name, params.get(name)!);
        return `/api/v1/diff?${asked.toString()}`;
      },
    },
  ];
}
