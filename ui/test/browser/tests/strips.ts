// SPDX-License-Identifier: Apache-2.0
// Metrics below the timeline of a service.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { addressOf, lastHour } from "../addresses.ts";
import { accessibilityProblems, settle, testsOf, until, type Scene } from "../harness.ts";

const test = testsOf("strips");
const checkout = { query: "checkout.cpu", ...lastHour };

async function openStrips(scene: Scene, params: Record<string, string> = {}, width = 1280): Promise<Page> {
  const page = await scene.open(addressOf("explore", { ...checkout, ...params }), { width });
  await settle(page);
  return page;
}

function captions(page: Page): Promise<string[]> {
  return page.locator(".timeline-caption").allInnerTexts();
}

test("each strip says what it is, in the unit of its metric", async (scene) => {
  const page = await openStrips(scene);
  const texts = await captions(page);
  assert.equal(texts.length, 4, texts.join());
  for (const [at, wanted] of [/^Heap [\d.]+ MiB$/, /^GC pause, p99 [\d.]+ ms$/, /^CPU [\d.]+ cores$/, /^Threads 1[45]\.?\d*$/].entries()) {
    assert.match(texts[at], wanted);
  }
});

test("strips stand below the timeline with the same times", async (scene) => {
  const page = await openStrips(scene);
  const places = await page.locator(".chart-card .u-over").evaluateAll((all) => all.map((one) => [one.getBoundingClientRect().left, one.getBoundingClientRect().width]));
  assert.equal(places.length, 5);
  for (const place of places) assert.deepEqual(place, places[0]);
});

test("pointing at one strip points at the same time in all of them", async (scene) => {
  const page = await openStrips(scene);
  const before = await captions(page);
  const box = (await page.locator(".strip .u-over").nth(2).boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.42, box.y + box.height / 2);
  await until("the captions tell values of a moment", async () => (await captions(page))[2] !== before[2]);
  const lines = await page.locator(".chart-card .u-cursor-x").evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
  assert.equal(new Set(lines).size, 1, lines.join());
  assert.notEqual(await page.locator(".timeline-time").innerText(), "mean");
});

test("brushing a strip chooses the time of everything", async (scene) => {
  const page = await openStrips(scene);
  const box = (await page.locator(".strip .u-over").nth(1).boundingBox())!;
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.25, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
  const widths = await page.locator(".chart-card .u-select").evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)));
  assert.ok(widths.every((width) => Math.abs(width - box.width / 4) < 3), `all show what is being brushed: ${widths.join()}`);
  await page.mouse.up();
  const quarter = (Number(lastHour.until) - Number(lastHour.from)) / 4;
  await until("the address has the time", () => {
    const { searchParams } = new URL(page.url());
    return Math.abs(Number(searchParams.get("from")) - Number(lastHour.from) - quarter) < 150e3 && Math.abs(Number(searchParams.get("until")) - Number(lastHour.from) - 2 * quarter) < 150e3;
  });
  await page.goBack();
  await until("and it was one step", () => new URL(page.url()).searchParams.get("from") === lastHour.from);
});

test("the keyboard walks over a strip and chooses a time in it", async (scene) => {
  const page = await openStrips(scene);
  const strip = page.getByRole("slider", { name: /^Heap over time/ });
  await strip.focus();
  for (const key of ["Home", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"]) await page.keyboard.press(key);
  assert.match((await strip.getAttribute("aria-valuetext")) ?? "", /^Chosen: .* all [\d.]+ MiB$/);
  assert.notEqual(await page.locator(".timeline-time").innerText(), "mean", "the timeline follows");
  await page.keyboard.press("Enter");
  await until("it is shown", () => new URL(page.url()).searchParams.get("from") !== lastHour.from);
});

test("strips can be folded away, and the address says so", async (scene) => {
  const page = await openStrips(scene);
  await page.getByRole("button", { name: /^▾? ?Metrics/ }).click();
  await until("they are gone", async () => (await page.locator(".strip").count()) === 0);
  assert.equal(new URL(page.url()).searchParams.get("metrics"), "hidden");
  await page.locator("body").press("m");
  await until("they are back", async () => (await page.locator(".strip").count()) === 4);
  assert.equal(new URL(page.url()).searchParams.get("metrics"), null);
});

test("strips are there for screen readers and on small screens", async (scene) => {
  const page = await openStrips(scene, {}, 360);
  assert.deepEqual(await accessibilityProblems(page, scene.ui), []);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
});

test("a service without metrics has no strips", async (scene) => {
  const page = await scene.open(addressOf("explore", { query: "frontend.cpu", ...lastHour }));
  await settle(page);
  assert.equal(await page.locator(".strips").count(), 0);
});
