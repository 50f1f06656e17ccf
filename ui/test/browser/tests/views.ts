// SPDX-License-Identifier: Apache-2.0
// What holds for every view: it fits every screen, people who do not see it or do not use a mouse can use it, and its address
// is all there is to it.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { viewCases } from "../addresses.ts";
import { accessibilityProblems, settle, testsOf, textOf } from "../harness.ts";

const test = testsOf("views");
const widths = [360, 1280, 2560];

/** Elements that stick out of the window to the right, unless something around them scrolls or cuts. */
async function stickingOut(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const isCut = (element: Element): boolean => {
      for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
        if (getComputedStyle(up).overflowX !== "visible") return true;
      }
      return false;
    };
    return [...document.querySelectorAll("body *")]
      .filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.right > innerWidth + 1 && !isCut(element) && !element.closest(".visually-hidden, .skip");
      })
      .slice(0, 5)
      .map((element) => `${element.tagName.toLowerCase()}.${element.className} to ${Math.round(element.getBoundingClientRect().right)}`);
  });
}

for (const { name, server, path } of viewCases) {
  test(`${name} fits screens from a telephone to a wall, light and dark`, async (scene) => {
    const page = await scene.open(await path(scene), { at: await scene.address(server) });
    await settle(page);
    assert.ok((await textOf(page, "main")).length > 20, "the view is not blank");
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of widths) {
        await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
        await page.waitForTimeout(60);
        assert.deepEqual(await stickingOut(page), [], `at ${width} pixels, ${theme}`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `the page scrolls sideways at ${width} pixels`);
      }
    }
  });

  test(`${name} has no serious problem of accessibility`, async (scene) => {
    const page = await scene.open(await path(scene), { at: await scene.address(server) });
    await settle(page);
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForTimeout(60);
      assert.deepEqual(await accessibilityProblems(page, scene.ui), [], theme);
    }
  });

  test(`${name} is the same after it was loaded again`, async (scene) => {
    const page = await scene.open(await path(scene), { at: await scene.address(server) });
    await settle(page);
    const address = page.url();
    const changes = new Set(["status", "uploads"]); /* what other tests send meanwhile is seen there */
    const stable = (text: string): string => text.replaceAll(/[\d.]+ (ms|s|min|h) ago|just now/g, "AGO");
    const before = stable(await textOf(page, "main"));
    await page.reload();
    await settle(page);
    assert.equal(page.url(), address);
    if (!changes.has(name)) assert.equal(stable(await textOf(page, "main")), before);
  });
}
