// SPDX-License-Identifier: Apache-2.0
// Uses the panel that shows a profile in all its ways.

import type { Locator, Page } from "playwright-core";
import { settle, until } from "./harness.ts";

/** The graph: an element that takes keys and the pointer. */
export function graphOf(page: Page): Locator {
  return page.locator(".panel-flame").first();
}

export async function showWay(page: Page, title: string): Promise<void> {
  const button = page.getByRole("group", { name: "Show" }).getByRole("button", { name: title, exact: true });
  await button.click();
  await until(`${title} is shown`, async () => (await button.getAttribute("aria-pressed")) === "true");
}

/** Clicks, turns and drags over the graph, and the keys that it knows. */
async function useGraph(page: Page): Promise<void> {
  const box = await graphOf(page).boundingBox();
  if (!box) throw new Error("the flame graph is not there");
  const [x, y] = [box.x + box.width / 3, Math.min(box.y + 100, page.viewportSize()!.height - 20)];
  await page.mouse.move(x, y);
  await page.mouse.move(x + 40, y + 20);
  await page.mouse.click(x, y);
  await page.mouse.wheel(0, 300);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await page.mouse.down();
  await page.mouse.move(x - 80, y, { steps: 3 });
  await page.mouse.up();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp", "Enter", "+", "-", "End", "Home", "PageDown", "PageUp", "Escape"]) await page.keyboard.press(key);
  await page.mouse.click(x, y, { button: "right" });
  await page.keyboard.press("Escape");
}

/** Every way to look at the profile that is on the page, and what can be done with a flame graph. */
export async function usePanel(page: Page): Promise<void> {
  await settle(page);
  const titles = await page.getByRole("group", { name: "Show" }).getByRole("button").allInnerTexts();
  const hasGraph = (await page.locator(".panel-flame").count()) > 0;
  if (hasGraph) await useGraph(page);
  const search = page.getByRole("searchbox", { name: /Search functions/ });
  for (const text of ["a", "[", "(a+)+$", "nothing at all has this name"]) await search.fill(text);
  await search.fill("e");
  await search.press("Enter");
  await search.press("Shift+Enter");
  for (const title of titles) await showWay(page, title);
  await search.fill("");
  if (titles.includes("Both")) await showWay(page, "Both");
  if (hasGraph) {
    for (const key of ["c", "b", "i", "i", "b", "c", "z"]) await page.locator("body").press(key);
  }
}
