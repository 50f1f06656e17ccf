// SPDX-License-Identifier: Apache-2.0
// Two selections side by side.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { addressOf, compareAddress, rangeOf } from "../addresses.ts";
import { sees, settle, testsOf, textOf, until } from "../harness.ts";

const test = testsOf("compare");

test("the summary names what grew, and cores are those of the timeline", async (scene) => {
  const page = await scene.open(compareAddress());
  await settle(page);
  await sees(page, /After is \d+ % more CPU per second; .*regex::Parser::parse/);
  const before = rangeOf(60, 40);
  const server = await scene.server("shop");
  const { total } = await server.get<{ total: number }>(`/api/v1/top?query=checkout.cpu&from=${before.from}&until=${before.until}&rows=1`);
  const shown = /([\d.]+) cores, 40 profiles/.exec(await textOf(page, "section[aria-label=Before]"));
  assert.ok(shown && Math.abs(Number(shown[1]) - total / (20 * 60e9)) < 0.03 * Number(shown[1]), `${shown?.[0]}, but ${total / (20 * 60e9)} cores`);
});

test("before anything is chosen, services are suggested, and a click compares", async (scene) => {
  const page = await scene.open(addressOf("compare", {}));
  await settle(page);
  const suggestions = page.getByRole("list", { name: "Suggestions" });
  await suggestions.getByRole("link", { name: "With an hour before" }).first().click();
  await until("the address has a query", () => new URL(page.url()).searchParams.get("query") !== null);
});

test("sides are swapped, scaled otherwise, and the address says so", async (scene) => {
  const page = await scene.open(compareAddress());
  await settle(page);
  const before = page.url();
  await page.getByRole("button", { name: "Swap" }).click();
  await sees(page, /After is \d+ % less CPU per second/);
  await page.getByRole("button", { name: "Shares" }).click();
  await sees(page, "Both sides are scaled to the same total");
  await page.reload();
  await sees(page, "Both sides are scaled to the same total");
  await page.goBack();
  await page.goBack();
  await until("all is as it was", () => page.url() === before);
  await sees(page, /After is \d+ % more CPU per second/);
});

test("a side opens in Explore", async (scene) => {
  const page = await scene.open(compareAddress());
  await settle(page);
  await page.getByRole("link", { name: "Explore this side" }).first().click();
  await until("Explore is shown with its times", () => page.url().includes(`/explore?`) && page.url().includes(rangeOf(60, 40).from));
});

test("two versions of a service are compared by their labels", async (scene) => {
  const page = await scene.open(addressOf("compare", {
    base: 'checkout.cpu{version="1.4.2"}', query: 'checkout.cpu{version="1.5.0"}', "base-from": rangeOf(60, 0).from, "base-until": rangeOf(60, 0).until, ...rangeOf(60, 0),
  }));
  await settle(page);
  await sees(page, /regex::Parser::parse, which is new/);
});

test("a side that is wrong is told at that side", async (scene) => {
  const page = await scene.open(addressOf("compare", { base: "nobody.cpu", query: "checkout.cpu", ...rangeOf(60, 0) }), { allows: [/40\d/] });
  await settle(page);
  assert.ok((await textOf(page, "main")).length > 100);
});

test("the differences are on the first screen, and can be kept as a page", async (scene) => {
  const page = await scene.open(compareAddress());
  await settle(page);
  const graph = await page.locator(".panel-flame").boundingBox();
  assert.ok(graph && graph.y < 600, `the flame graph begins at ${graph?.y}`);
  await page.getByRole("button", { name: "Export" }).click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: /HTML/ }).click()]);
  assert.match(readFileSync(await file.path(), "utf8"), /<title>checkout\.cpu against checkout\.cpu<\/title>/);
});
