// SPDX-License-Identifier: Apache-2.0
// Slow spans against fast ones, what narrows a query to spans, and the way from a frame to traces.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { addressOf, lastHour } from "../addresses.ts";
import { accessibilityProblems, sees, settle, testsOf, textOf, until, type OpenOptions, type Scene } from "../harness.ts";
import { graphOf, showWay } from "../panel.ts";
import { nShopTraces, placed } from "../seedTraces.ts";

const test = testsOf("slowfast");
const question = { query: "checkout.cpu", operation: "Checkout/Place", share: "5%", ...lastHour };

async function open(scene: Scene, view: string, params: Record<string, string>, options: OpenOptions = {}): Promise<Page> {
  const page = await scene.open(addressOf(view, params), { at: await scene.address("traces"), ...options });
  await settle(page);
  return page;
}

function paramOf(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name);
}

/** What the flame graphs that come from now on are asked with. */
function asked(page: Page, call: string): URLSearchParams[] {
  const list: URLSearchParams[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith(`/api/v1/${call}`)) list.push(url.searchParams);
  });
  return list;
}

test("both sides are named by their share, with what the server says of them", async (scene) => {
  const page = await open(scene, "compare", question);
  await sees(page, "Fastest 95 %");
  await sees(page, "Slowest 5 %");
  await sees(page, `are ${nShopTraces / 20} spans of`);
  await showWay(page, "Call tree");
  assert.match(await textOf(page, ".panel"), /Fast\s+Slow\s+Change/);
  assert.doesNotMatch(await textOf(page, "main"), /\bBefore\b|\bAfter\b/);
});

test("share and operation can be changed, and back undoes it", async (scene) => {
  const page = await open(scene, "compare", question);
  const share = page.getByRole("combobox", { name: "Share of the slowest spans" });
  await share.fill("12,5");
  await share.press("Enter");
  await until("the address has it", () => paramOf(page, "share") === "12.5%");
  await sees(page, "Fastest 87.5 %");
  await share.fill("nothing");
  await share.press("Enter");
  await sees(page, "is no share");
  const operation = page.getByRole("combobox", { name: "Operation" });
  await operation.click();
  await operation.fill("cart");
  await page.getByRole("option", { name: /^cart\.load/ }).click();
  await until("the operation is another", () => paramOf(page, "operation") === "cart.load");
  await page.goBack();
  await until("and back again", () => paramOf(page, "operation") === "Checkout/Place");
});

test("samples of the spans below count, unless they are switched off", async (scene) => {
  const page = await open(scene, "compare", question);
  const below = page.getByRole("button", { name: "Spans below" });
  assert.equal(await below.getAttribute("aria-pressed"), "true");
  await below.click();
  await until("the address says so", () => paramOf(page, "attribution") === "own");
  await below.click();
  await until("and not any more", () => paramOf(page, "attribution") === null);
});

test("without an operation one is asked for", async (scene) => {
  const page = await open(scene, "compare", { query: "checkout.cpu", share: "5%", ...lastHour });
  await sees(page, "Which operation should be looked at?");
});

test("an operation that is not there is told in the server's words", async (scene) => {
  const page = await open(scene, "compare", { ...question, operation: "<img src=x onerror=alert(1)>" }, { allows: [/404/] });
  await sees(page, "has no spans in this time");
});

test("slow against fast is there for screen readers and on small screens", async (scene) => {
  const page = await open(scene, "compare", question, { width: 360 });
  assert.deepEqual(await accessibilityProblems(page, scene.ui), []);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
});

test("a query that is narrowed to a span says so, asks so, and can be widened", async (scene) => {
  const page = await open(scene, "explore", { query: "checkout.cpu", "span-id": placed.spanId, ...lastHour, show: "table" });
  const chips = page.getByRole("list", { name: "Narrowed to" });
  assert.deepEqual(await chips.getByRole("listitem").locator("bdi").allInnerTexts(), [`span ${placed.spanId.slice(0, 8)}…`]);
  for (const name of placed.functions) await sees(page, name);
  assert.doesNotMatch(await textOf(page, ".panel"), new RegExp(placed.below));
  const graphs = asked(page, "flamegraph");
  await page.getByRole("button", { name: "+ Spans below" }).click();
  await sees(page, placed.below);
  assert.deepEqual([graphs.at(-1)?.get("span-id"), graphs.at(-1)?.get("attribution")], [placed.spanId, "root"]);
  await page.getByRole("button", { name: /^Remove: span/ }).click();
  await until("the span is gone", () => paramOf(page, "span-id") === null);
  await until("the whole query is asked for", () => graphs.at(-1)?.get("span-id") === null && graphs.at(-1)?.get("attribution") === null);
});

test("a query that is narrowed to an operation leads to its slow spans", async (scene) => {
  const page = await open(scene, "explore", { query: "checkout.cpu", operation: "Checkout/Place", ...lastHour });
  await sees(page, "operation Checkout/Place");
  await page.getByRole("link", { name: "Slow against fast" }).click();
  await sees(page, "Slowest 5 %");
  assert.equal(paramOf(page, "operation"), "Checkout/Place");
});

async function menuOfFrame(page: Page): Promise<string[]> {
  await graphOf(page).scrollIntoViewIfNeeded();
  const box = (await graphOf(page).boundingBox())!;
  await page.mouse.click(box.x + box.width / 3, box.y + 90, { button: "right" });
  return await page.getByRole("menuitem").allInnerTexts();
}

test("the slowest traces through a function are one step away", async (scene) => {
  const page = await open(scene, "explore", { query: "checkout.cpu", ...lastHour });
  const entries = await menuOfFrame(page);
  assert.ok(entries.some((text) => text.includes("Slowest traces through here")), entries.join());
  const searches = asked(page, "traces");
  await page.getByRole("menuitem", { name: "Slowest traces through here" }).click();
  await until("traces are shown", () => new URL(page.url()).pathname === "/traces");
  assert.deepEqual([paramOf(page, "query"), paramOf(page, "order"), paramOf(page, "from")], ["checkout.cpu", "slowest", lastHour.from]);
  assert.match(paramOf(page, "function") ?? "", /^\^.+\$$/);
  await until("the server is asked for them", () => searches.some((params) => params.has("function")));
  await settle(page);
  await sees(page, "Checkout/Place");
});

test("what is no query of stored profiles has no traces", async (scene) => {
  const page = await open(scene, "compare", question);
  const entries = await menuOfFrame(page);
  assert.ok(entries.length > 3 && !entries.some((text) => text.includes("Slowest traces")), entries.join());
});
