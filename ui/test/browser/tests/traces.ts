// SPDX-License-Identifier: Apache-2.0
// Searching traces, one of them as a waterfall, and the flame graphs of its spans.

import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { formatDuration, formatValue } from "../../../src/lib/format.ts";
import type { FoundTrace, Operation, Trace } from "../../../src/api/traces.ts";
import { addressOf, lastHour } from "../addresses.ts";
import { sees, settle, testsOf, textOf, until, type OpenOptions, type Scene } from "../harness.ts";
import { bigSpans, deepLevels, nShopTraces, placed, traceIds } from "../seedTraces.ts";

const test = testsOf("traces");

async function openAt(scene: Scene, path: string, options: OpenOptions = {}): Promise<Page> {
  const page = await scene.open(path, { at: await scene.address("traces"), ...options });
  await settle(page);
  return page;
}

function traceAddress(id: string, params: Record<string, string> = {}): string {
  return addressOf(`traces/${id}`, params);
}

function paramOf(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name);
}

async function found(scene: Scene, params: Record<string, string>): Promise<FoundTrace[]> {
  const server = await scene.server("traces");
  return (await server.get<{ traces: FoundTrace[] }>(`/api/v1/traces?${new URLSearchParams({ ...lastHour, limit: "1000", ...params })}`)).traces;
}

const rows = (page: Page): Locator => page.getByRole("treegrid").getByRole("row");

/** Says how many of how many rows are shown. */
async function shownRows(page: Page): Promise<string> {
  return /^Spans: (\d+ of \d+)/.exec((await page.getByRole("treegrid").getAttribute("aria-label")) ?? "")?.[1] ?? "";
}

test("the operations are those of the server, and a click searches the slowest", async (scene) => {
  const server = await scene.server("traces");
  const { operations } = await server.get<{ operations: Operation[] }>(`/api/v1/operations?${new URLSearchParams(lastHour)}`);
  const page = await openAt(scene, addressOf("traces", { ...lastHour, service: "checkout" }));
  await sees(page, "Which operation is slow?");
  const one = operations.find((other) => other.operation === "Checkout/Place")!;
  assert.equal(one.n_spans, nShopTraces);
  const row = page.getByRole("grid", { name: "Operations" }).getByRole("row").filter({ hasText: "Checkout/Place" });
  await row.scrollIntoViewIfNeeded();
  assert.match(await row.innerText(), new RegExp(formatDuration(one.p95_ns).replace(".", "\\.")));
  await row.getByRole("link").click();
  await until("the address says so", () => paramOf(page, "operation") === "Checkout/Place" && paramOf(page, "order") === "slowest");
  await settle(page);
  const [slowest] = await found(scene, { service: "checkout", operation: "Checkout/Place", order: "slowest" });
  const first = page.getByRole("grid", { name: "Traces" }).getByRole("row").nth(1);
  await until("the slowest is the first", async () => (await first.innerText()).includes(formatDuration(slowest.duration_ns)));
});

test("conditions are put together, and what is left is what the server finds", async (scene) => {
  const page = await openAt(scene, addressOf("traces", { ...lastHour, service: "frontend" }));
  await page.getByRole("button", { name: "Errors only" }).click();
  await page.getByRole("textbox", { name: "Duration at least" }).fill("50ms");
  await until("the duration is in the address", () => paramOf(page, "min") === "50ms");
  const field = page.getByRole("textbox", { name: /^Attribute = value/ });
  await field.fill("customer=guest");
  await field.press("Enter");
  await until("so is the attribute", () => paramOf(page, "attributes") === '{customer="guest"}');
  await settle(page);
  const wanted = await found(scene, { service: "frontend", error: "true", "min-duration": "50ms", attribute: "customer=guest" });
  assert.ok(wanted.length > 0 && wanted.length < nShopTraces / 2);
  await sees(page, `${wanted.length} traces, newest first`);
  await page.getByRole("button", { name: "Remove: customer = guest" }).click();
  await until("it is gone", () => paramOf(page, "attributes") === null);
  await page.goBack();
  await until("back brings it back", () => paramOf(page, "attributes") !== null);
});

test("more pages follow, each trace once", async (scene) => {
  const page = await openAt(scene, addressOf("traces", { ...lastHour, service: "frontend", operation: "POST /checkout" }));
  await sees(page, "50 or more traces");
  await page.getByRole("button", { name: "Show more" }).click();
  await sees(page, "100 or more traces");
  await page.getByRole("button", { name: "Show more" }).click();
  await sees(page, `${nShopTraces} traces, newest first`);
  await page.reload();
  await settle(page);
  await sees(page, `${nShopTraces} traces, newest first`);
});

test("a click on a dot opens a trace", async (scene) => {
  const page = await openAt(scene, addressOf("traces", { ...lastHour, service: "frontend", operation: "POST /checkout", min: "200ms" }));
  const canvas = page.locator(".scatter canvas");
  const box = (await canvas.boundingBox())!;
  for (let x = box.x + 70; x < box.x + box.width && !/pointing/.test((await page.locator(".scatter").getAttribute("class")) ?? ""); x += 10) {
    for (const share of [0.15, 0.3, 0.45]) {
      await page.mouse.move(x, box.y + box.height * share);
      if (/pointing/.test((await page.locator(".scatter").getAttribute("class")) ?? "")) {
        await page.mouse.click(x, box.y + box.height * share);
        await until("a trace is open", () => /\/traces\/[0-9a-f]{32}$/.test(new URL(page.url()).pathname));
        return;
      }
    }
  }
  assert.fail("no dot was found");
});

test("a waterfall has all spans, and its bars say what is known of their time", async (scene) => {
  const server = await scene.server("traces");
  const trace = await server.get<Trace>(`/api/v1/trace?id=${traceIds.checkout}`);
  const page = await openAt(scene, traceAddress(traceIds.checkout));
  await until("all are there", async () => (await rows(page).count()) === trace.n_spans);
  await sees(page, formatDuration(trace.duration_ns), ".trace-facts");
  const span = trace.spans.find((one) => one.span_id === placed.spanId)!;
  assert.ok(span.latency.cpu_ns > 0, "the seeded samples belong to it");
  await rows(page).filter({ hasText: "Checkout/Place" }).click();
  await until("it is chosen", () => paramOf(page, "span") === placed.spanId);
  await sees(page, `On CPU ${formatDuration(span.latency.cpu_ns)}`, ".span-details");
  await sees(page, "cache miss", ".span-details");
  const link = page.getByRole("link", { name: /Open elsewhere/ });
  assert.equal(await link.getAttribute("href"), `https://traces.example/${traceIds.checkout}`);
});

test("the flame graph of a span has its functions and no others, below the waterfall", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.checkout, { span: placed.spanId }));
  await page.getByRole("button", { name: "Flame graph of this span" }).click();
  await settle(page);
  await until("the address says so", () => paramOf(page, "flame") === "own");
  const table = page.getByRole("grid", { name: /functions/i });
  await until("its functions are there", async () => (await table.innerText()).includes("promotion_rules"));
  const shown = await table.innerText();
  for (const name of placed.functions) assert.ok(shown.includes(name), name);
  assert.ok(!shown.includes(placed.below), "what a span below did is not its own");
  await page.getByRole("button", { name: "With the spans below" }).click();
  await until("now it is there", async () => (await table.innerText()).includes(placed.below));
  await page.getByRole("button", { name: "All of this operation" }).click();
  const server = await scene.server("traces");
  await settle(page);
  const { from, until: end } = Object.fromEntries(new URL(await page.getByRole("link", { name: "Open in Explore" }).getAttribute("href") ?? "", page.url()).searchParams) as Record<string, string>;
  const { total } = await server.get<{ total: number }>(`/api/v1/top?${new URLSearchParams({ query: "checkout.cpu", operation: "Checkout/Place", attribution: "root", from, until: end, rows: "1" })}`);
  await sees(page, formatValue(total, "nanoseconds"), ".panel-total");
  await page.getByRole("button", { name: "Close the flame graph" }).click();
  await until("it is closed", async () => (await page.locator(".span-flame").count()) === 0);
});

test("a span without samples says so, and where there are some", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.checkout, { find: "ledger.append" }));
  await rows(page).filter({ hasText: "ledger.append" }).click();
  await sees(page, "No profile has samples of this span.", ".span-details");
  assert.ok(await page.getByRole("button", { name: "Flame graph of this span" }).isDisabled());
});

test("traces through a function are those whose spans were sampled in it", async (scene) => {
  const through = { query: "checkout.cpu", function: "^promotion_rules$", order: "slowest" };
  const wanted = await found(scene, through);
  assert.equal(wanted.length, nShopTraces);
  const page = await openAt(scene, addressOf("traces", { ...lastHour, ...through }));
  await sees(page, "50 or more traces, slowest first");
  await sees(page, "through a function like ^promotion_rules$, in checkout.cpu");
  await page.getByRole("button", { name: /^Remove: through a function/ }).click();
  await until("it is gone", () => paramOf(page, "function") === null && paramOf(page, "query") === null);
});

test("slow against fast leads to the comparison", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.checkout, { span: placed.spanId }));
  await page.getByRole("link", { name: "Slow against fast" }).first().click();
  await until("it is there", () => new URL(page.url()).pathname === "/compare" && paramOf(page, "operation") === "Checkout/Place" && paramOf(page, "share") === "5%");
  await settle(page);
  assert.equal(await page.locator(".failure").count(), 0);
});

test("a trace is walked, closed, opened and its flame graph shown by keys", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.checkout));
  const grid = page.getByRole("treegrid");
  await grid.focus();
  await grid.press("ArrowDown");
  await grid.press("ArrowDown");
  await until("the second span is chosen", () => paramOf(page, "span") === placed.spanId);
  await grid.press("ArrowLeft");
  await until("what is below it is closed", async () => (await shownRows(page)) === "2 of 5");
  assert.equal(await rows(page).nth(1).getAttribute("aria-expanded"), "false");
  await page.reload();
  await settle(page);
  assert.equal(await shownRows(page), "2 of 5", "and stays so");
  await grid.focus();
  await grid.press("ArrowRight");
  await until("it is open again", async () => (await shownRows(page)) === "5 of 5");
  await grid.press("Enter");
  await until("its flame graph is there", async () => (await page.locator(".span-flame .panel").count()) === 1);
});

test("ten thousand spans scroll, zoom, close and are searched", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.big));
  await until("they are there", async () => (await shownRows(page)) === `${bigSpans} of ${bigSpans}`, 30000);
  const nInDocument = async (): Promise<number> => await rows(page).count();
  assert.ok((await nInDocument()) < 100);
  await page.locator(".waterfall").evaluate((element) => (element.scrollTop = element.scrollHeight));
  await until("the last is in sight", async () => (await page.locator(`.span-row[aria-rowindex="${bigSpans}"]`).count()) === 1);
  assert.ok((await nInDocument()) < 100);
  const box = (await page.locator(".trace-map canvas").boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
  await page.mouse.up();
  await until("a part of the time is shown", () => /^\d+-\d+$/.test(paramOf(page, "window") ?? ""));
  await page.getByRole("button", { name: "Whole time" }).click();
  await until("all of it is shown", () => paramOf(page, "window") === null);
  await page.getByRole("button", { name: "Close all" }).click();
  await until("what is below the first level is closed", async () => (await shownRows(page)) === `4 of ${bigSpans}`);
  await page.getByRole("searchbox", { name: /^Find spans/ }).fill("number=7777");
  await sees(page, "1 span", ".waterfall-tools");
  await page.getByRole("searchbox", { name: /^Find spans/ }).press("Enter");
  await until("it is chosen and in sight", async () => (await page.locator(".span-details").innerText()).includes("7777") && (await page.locator(".span-row.selected").isVisible()));
  await page.getByRole("button", { name: "Errors", exact: true }).click();
  await page.getByRole("searchbox", { name: /^Find spans/ }).fill("");
  await sees(page, `${bigSpans / 500} spans`, ".waterfall-tools");
});

test("ctrl and the wheel zoom around the pointer", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.wide));
  const box = (await page.locator(".waterfall").boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.7, box.y + 50);
  await page.keyboard.down("Control");
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await until("a part is shown", () => paramOf(page, "window") !== null);
});

test("a trace of a thousand levels fits its column", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.deep));
  await until("all are there", async () => (await shownRows(page)) === `${deepLevels} of ${deepLevels}`);
  await page.locator(".waterfall").evaluate((element) => (element.scrollTop = element.scrollHeight));
  const last = page.locator(`.span-row[aria-level="${deepLevels}"]`);
  await until("the last one can be read", async () => (await last.locator(".span-operation").boundingBox())!.width > 20);
});

test("spans whose parents are missing are shown, and say so", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.orphans));
  await until("all are there", async () => (await shownRows(page)) === "20 of 20");
  await rows(page).filter({ hasText: /step 5\b/ }).click();
  await sees(page, "which is not here", ".span-details");
});

test("names that mean harm do none", async (scene) => {
  const page = await openAt(scene, traceAddress(traceIds.hostile, { path: "1" }));
  await sees(page, "hostile root");
  for (let i = 0; i < (await rows(page).count()); i += 3) {
    await rows(page).nth(i).click({ position: { x: 60, y: 12 } });
    assert.ok((await textOf(page, ".span-details")).length > 20);
  }
  assert.ok(!(await page.title()).includes("owned"));
  assert.equal(await page.locator("main img, main script, main svg[onload]").count(), 0);
  await page.goto((await scene.address("traces")) + addressOf("traces", lastHour));
  await settle(page);
  await sees(page, "Which operation is slow?");
  assert.ok(!(await page.title()).includes("owned"));
});

test("a condition that cannot be asked for is told of in a sentence", async (scene) => {
  const page = await openAt(scene, addressOf("traces", lastHour));
  await page.getByLabel("Duration at least").fill("12 parsecs");
  await page.keyboard.press("Enter");
  await sees(page, "“12 parsecs” is no duration. Write one like 10ms, 1.5s or 2m.");
  await page.getByLabel("Duration at least").fill("");
  await until("the sentence goes", async () => (await page.getByRole("alert").count()) === 0);
  await page.getByLabel("Attribute = value; Enter adds it").fill("nonsense");
  await page.keyboard.press("Enter");
  await sees(page, "“nonsense” is no attribute with a value. Write one like http.route=/cart.");
});

test("a trace that is not there says so, and so does an address that is none", async (scene) => {
  const missing = await openAt(scene, traceAddress("f".repeat(32)), { allows: [/404/] });
  await sees(missing, "There is no such trace");
  const wrong = await openAt(scene, "/traces/%3Cb%3Enonsense");
  await sees(wrong, "they have 32 hexadecimal digits");
  assert.equal(await wrong.locator("main b").count(), 0);
});

test("without traces there is what to send them with", async (scene) => {
  const page = await scene.open("/traces", { at: await scene.address("empty") });
  await settle(page);
  await sees(page, "No traces yet");
  await sees(page, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:");
});

test("a time without traces leads to one that has some", async (scene) => {
  const page = await openAt(scene, addressOf("traces", { from: "now-2d", until: "now-1d" }));
  await sees(page, "No traces in this time");
  await page.getByRole("button", { name: "Go to that time" }).click();
  await settle(page);
  await sees(page, /\d+ (or more )?traces/);
});

test("a search that fails says why, and can be tried again", async (scene) => {
  const front = await scene.front("traces");
  front.rules = [{ path: /api\/v1\/traces/, answer: { status: 503, type: "application/json", body: '{"code":"busy","message":"the server is busy with other questions"}' } }];
  const page = await scene.open(addressOf("traces", lastHour), { at: front.url, allows: [/503/] });
  await sees(page, "the server is busy with other questions");
  front.rules = [];
  await page.getByRole("button", { name: "Try again" }).click();
  await sees(page, /or more traces/);
});
