// SPDX-License-Identifier: Apache-2.0
// Uses the panel that shows a profile in all its ways.

import type { Page } from "playwright-core";
import { settle } from "./harness.ts";

export const ways = ["flame", "table", "both", "tree", "sandwich", "lines", "hints"];

/** Every way to look at the profile that is on the page, and what can be done with a flame graph. */
export async function usePanel(page: Page): Promise<void> {
  await settle(page);
  for (const way of ways) {
    const url = new URL(page.url());
    url.searchParams.set("show", way);
    await page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, url.href);
    await page.waitForTimeout(50);
  }
}
