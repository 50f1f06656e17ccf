// SPDX-License-Identifier: Apache-2.0
// Slow spans against fast ones, and what narrows a query to spans.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { addressOf, lastHour } from "../addresses.ts";
import type { Front } from "../front.ts";
import { accessibilityProblems, sees, settle, testsOf, textOf, until, type Scene } from "../harness.ts";
import { graphOf, showWay } from "../panel.ts";
import { metricsAnswer } from "../metrics.ts";
import { slowFastMessage, spanRules } from "../spans.ts";

const test = testsOf("slowfast");
const question = { query: "checkout.cpu", operation: "POST /checkout", share: "5%", ...lastHour };

async function open(scene: Scene, view: string, params: Record<string, string>, width = 1280): Promise<{ page: Page; front: Front }> {
  const front = await scene.front("shop");
  front.rules = [{ path: /api\/v1\/metrics/, answer: metricsAnswer }, ...spanRules()];
  const page = await scene.open(addressOf(view, params), { at: front.url, width });
  await settle(page);
  return { page, front };
}

function paramOf(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name);
}

test("both sides are named by their share, with what the server says of them", async (scene) => {
  const { page, front } = await open(scene, "compare", question);
  await sees(page, "Fastest 95 %");
  await sees(page, "Slowest 5 %");
  await sees(page, slowFastMessage);
  const asked = new URL(front.seen.find((url) => url.includes("/slow-fast?"))!, "http://page").searchParams;
  assert.deepEqual([asked.get("query"), asked.get("operation"), asked.get("share"), asked.get("from")], ["checkout.cpu", "POST /checkout", "5%", lastHour.from]);
  await showWay(page, "Call tree");
  const headings = await textOf(page, ".panel");
  assert.match(headings, /Fast\s+Slow\s+Change/);
  assert.doesNotMatch(await textOf(page, "main"), /\bBefore\b|\bAfter\b/);
});

test("share and operation can be changed, and back undoes it", async (scene) => {
  const { page } = await open(scene, "compare", question);
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
  await page.getByRole("option", { name: /GET \/cart/ }).click();
  await until("the operation is another", () => paramOf(page, "operation") === "GET /cart");
  await page.goBack();
  await until("and back again", () => paramOf(page, "operation") === "POST /checkout");
});

test("without an operation one is asked for", async (scene) => {
  const { page, front } = await open(scene, "compare", { query: "checkout.cpu", share: "5%", ...lastHour });
  await sees(page, "Which operation should be looked at?");
  assert.ok(!front.seen.some((url) => url.includes("/slow-fast?")));
});

test("what the server refuses is told in its words", async (scene) => {
  const front = await scene.front("shop");
  const message = "No span of operation 'POST /checkout' is in this time.";
  front.rules = [{ path: /slow-fast/, answer: { status: 404, type: "application/json", body: JSON.stringify({ message, code: "not_found" }) } }, ...spanRules()];
  const page = await scene.open(addressOf("compare", question), { at: front.url, allows: [/404/] });
  await settle(page);
  await sees(page, message);
});

test("slow against fast is there for screen readers and on small screens", async (scene) => {
  const { page } = await open(scene, "compare", question, 360);
  assert.deepEqual(await accessibilityProblems(page, scene.ui), []);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
});

test("a query that is narrowed to an operation says so, asks so, and can be widened", async (scene) => {
  const front = await scene.front("shop");
  /* The stand-in for a server that knows spans answers for the whole query. */
  const whole = (path: string) => (params: URLSearchParams) => {
    for (const name of ["operation", "attribution", "span-id"]) params.delete(name);
    return `/api/v1/${path}?${params.toString()}`;
  };
  front.rules = [
    { path: /api\/v1\/metrics/, answer: metricsAnswer }, ...spanRules(),
    { path: /api\/v1\/flamegraph/, instead: whole("flamegraph") }, { path: /api\/v1\/timeseries/, instead: whole("timeseries") },
  ];
  const page = await scene.open(addressOf("explore", { query: "checkout.cpu", operation: "POST /checkout", "span-id": "00f067aa0ba902b7", ...lastHour }), { at: front.url });
  await settle(page);
  const chips = page.getByRole("list", { name: "Narrowed to" });
  assert.deepEqual(await chips.getByRole("listitem").locator("bdi").allInnerTexts(), ["span 00f067aa…", "operation POST /checkout"]);
  await page.getByRole("button", { name: "+ Spans below" }).click();
  await until("the server is asked so", () => front.seen.some((url) => /flamegraph\?.*operation=POST.*attribution=root/.test(url)));
  await page.getByRole("button", { name: "Remove: span 00f067aa…" }).click();
  await until("the span is gone", () => paramOf(page, "span-id") === null);
  assert.equal(paramOf(page, "attribution"), "root");
  await settle(page);
  await page.getByRole("link", { name: "Slow against fast" }).click();
  await sees(page, "Slowest 5 %");
  assert.equal(paramOf(page, "operation"), "POST /checkout");
});

async function menuOfFrame(page: Page): Promise<string[]> {
  await graphOf(page).scrollIntoViewIfNeeded();
  const box = (await graphOf(page).boundingBox())!;
  await page.mouse.click(box.x + box.width / 3, box.y + 90, { button: "right" });
  return await page.getByRole("menuitem").allInnerTexts();
}

test("the slowest traces through a function are one step away", async (scene) => {
  const front = await scene.front("shop");
  const nothing = { traces: [], n_searched: 0, next_page: null };
  front.rules = [
    { path: /api\/v1\/metrics/, answer: metricsAnswer }, ...spanRules(),
    { path: /api\/v1\/traces/, answer: { status: 200, type: "application/json", body: JSON.stringify(nothing) } },
  ];
  const page = await scene.open(addressOf("explore", { query: "checkout.cpu", ...lastHour }), { at: front.url });
  await settle(page);
  const entries = await menuOfFrame(page);
  assert.ok(entries.some((text) => text.includes("Slowest traces through here")), entries.join());
  await page.getByRole("menuitem", { name: "Slowest traces through here" }).click();
  await until("traces are shown", () => new URL(page.url()).pathname === "/traces");
  assert.deepEqual([paramOf(page, "query"), paramOf(page, "order"), paramOf(page, "from")], ["checkout.cpu", "slowest", lastHour.from]);
  assert.match(paramOf(page, "function") ?? "", /^\^.+\$$/);
  await until("the server is asked for them", () => front.seen.some((url) => /\/traces\?.*function=/.test(url)));
});

test("what is no query of stored profiles has no traces", async (scene) => {
  const { page } = await open(scene, "compare", question);
  const entries = await menuOfFrame(page);
  assert.ok(entries.length > 3 && !entries.some((text) => text.includes("Slowest traces")), entries.join());
});
