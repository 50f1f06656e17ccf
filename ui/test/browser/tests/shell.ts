// SPDX-License-Identifier: Apache-2.0
// What is around the views.

import assert from "node:assert/strict";
import { compareAddress } from "../addresses.ts";
import { sees, settle, testsOf, textOf, until } from "../harness.ts";

const test = testsOf("shell");

test("the seeded numbers are what the server answers", async ({ server }) => {
  const shop = await server("shop");
  const { functions, unit } = await shop.get<{ functions: unknown[]; unit: string }>("/api/v1/top?query=checkout.cpu&from=now-2h");
  assert.equal(unit, "nanoseconds");
  assert.ok(functions.length > 20);
});

test("every view is reached by keys, and the map tells them", async (scene) => {
  const page = await scene.open("/");
  for (const [key, path] of [["e", "/explore"], ["t", "/traces"], ["c", "/compare"], ["a", "/adhoc"], ["s", "/status"], ["f", "/"]]) {
    await page.locator("body").press("g");
    await page.locator("body").press(key);
    await until(`g ${key} goes to ${path}`, () => new URL(page.url()).pathname === path);
  }
  await page.locator("body").press("?");
  await sees(page, "Go to Explore", "dialog");
  await page.keyboard.press("Escape");
  await until("Escape closes the map", async () => (await page.locator("dialog").count()) === 0);
});

test("the theme follows the system until one is chosen, which stays", async (scene) => {
  const page = await scene.open("/status", { theme: "dark" });
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground();
  assert.notEqual(dark, light);
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Dark" }).click();
  assert.equal(await ground(), dark);
  await page.reload();
  await settle(page);
  assert.equal(await ground(), dark);
});

test("the link to a view is copied", async (scene) => {
  const page = await scene.open(compareAddress());
  await settle(page);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await sees(page, "The link is copied.");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
});

test("an address that is none shows the fleet or says that there is nothing", async (scene) => {
  const page = await scene.open("/adhoc/%3Cscript%3E", { allows: [/40\d/] });
  await settle(page);
  assert.ok((await textOf(page, "main")).length > 10);
});
