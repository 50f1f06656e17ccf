// SPDX-License-Identifier: Apache-2.0
// The panel that shows a profile: its numbers, its keys, its address, and what can be taken away from it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Download, Page } from "playwright-core";
import { formatShare, formatValue } from "../../../src/lib/format.ts";
import { addressOf, lastHour, uploadExample } from "../addresses.ts";
import { sees, settle, testsOf, textOf, until, type Scene } from "../harness.ts";
import { graphOf, showWay } from "../panel.ts";

const test = testsOf("panel");
const checkout = { query: "checkout.cpu", ...lastHour };
const times = `from=${lastHour.from}&until=${lastHour.until}`;

interface Top {
  total: number;
  whole: number;
  functions: { name: string; self: number; total: number }[];
}

async function top(scene: Scene, more: string): Promise<Top> {
  return await (await scene.server("shop")).get<Top>(`/api/v1/top?query=checkout.cpu&${times}&${more}`);
}

/** Presses Tab until the focus is on something that `selector` names. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
  }
  throw new Error(`Tab does not reach ${selector}`);
}

test("the table has the server's numbers", async (scene) => {
  const { functions, total } = await top(scene, "rows=12");
  const page = await scene.open(addressOf("explore", { ...checkout, show: "table" }), { width: 1600 });
  await settle(page);
  const rows = page.getByRole("grid", { name: "Functions" }).getByRole("row");
  for (const one of functions.filter((fn) => fn.name !== "other").slice(0, 8)) {
    const row = rows.filter({ has: page.getByText(one.name, { exact: true }) }).first();
    const cells = (await row.getByRole("gridcell").allInnerTexts()).map((text) => text.trim());
    assert.equal(cells[1], formatValue(one.self, "nanoseconds"), one.name);
    assert.equal(cells[2], formatShare(one.self / total), one.name);
    assert.equal(cells[3], formatValue(one.total, "nanoseconds"), one.name);
  }
});

test("a search says which share was found, as the server counts it, also when zoomed", async (scene) => {
  const pattern = "regex|json";
  const all = await top(scene, "rows=1");
  const found = await top(scene, `rows=1&focus=${encodeURIComponent(pattern)}`);
  const page = await scene.open(addressOf("explore", { ...checkout, show: "flame", search: pattern }));
  await settle(page);
  await sees(page, `${formatShare(found.total / all.total)} (${formatValue(found.total, "nanoseconds")})`);
  const path = "checkout;start_thread;pool::Worker::run;http::Server::serve;checkout::Handler::place_order;json::parse";
  const zoomed = await scene.open(addressOf("explore", { ...checkout, show: "flame", search: "json::parse$", zoom: path }));
  await settle(zoomed);
  await sees(zoomed, /100 % \(/);
});

test("a walk by keys alone goes from the fleet to a zoomed frame and its menu", async (scene) => {
  const page = await scene.open(addressOf("", lastHour));
  await until("services are listed", async () => (await page.getByRole("grid", { name: "Services" }).count()) === 1);
  await tabTo(page, "[role=grid]");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until("Explore is shown", () => page.url().includes("/explore?"));
  await settle(page);
  await until("the graph is there", async () => (await page.locator("[role=application]").count()) > 0);
  await tabTo(page, "[role=application]");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
  const label = await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  const spoken = `${label} ${(await page.locator("[aria-live=polite]").allTextContents()).join(" ")}`;
  assert.match(spoken, /%/, "a frame is told with its share");
  await page.keyboard.press("Enter");
  await until("the address has the zoom", () => new URL(page.url()).searchParams.has("zoom"));
  await page.keyboard.press("Shift+F10");
  const menu = page.getByRole("menu", { name: "Frame" });
  await until("the menu is open", async () => (await menu.count()) === 1);
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  await until("Escape closes it", async () => (await menu.count()) === 0);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "application", "the focus is back");
  await page.keyboard.press("Escape");
  await until("Escape shows everything", () => !new URL(page.url()).searchParams.has("zoom"));
});

test("a click zooms; reloading, back and forward keep the address's word", async (scene) => {
  const page = await scene.open(addressOf("explore", { ...checkout, show: "flame" }), { height: 1200 });
  await settle(page);
  const box = (await graphOf(page).boundingBox())!;
  /* Below the overview, the fifth row: http::Server::serve is nearly as wide as all. */
  await page.mouse.click(box.x + box.width / 3, box.y + 34 + 6.5 * 18);
  const hasZoom = (): boolean => new URL(page.url()).searchParams.has("zoom");
  await until("the address has the zoom", hasZoom);
  const zoomed = page.url();
  const crumbs = page.getByRole("navigation", { name: "Zoomed to" });
  const here = await crumbs.locator("[aria-current]").innerText();
  assert.notEqual(here, "All");
  await page.reload();
  await settle(page);
  await until("it is still zoomed", async () => (await crumbs.locator("[aria-current]").innerText()) === here);
  await page.goBack();
  await until("back shows everything", async () => !hasZoom() && (await crumbs.locator("[aria-current]").innerText()) === "All");
  await page.goForward();
  await until("forward zooms again", async () => page.url() === zoomed && (await crumbs.locator("[aria-current]").innerText()) === here);
});

for (const [way, params] of Object.entries({
  "the call tree": { show: "tree" }, "the sandwich": { show: "sandwich", fn: "malloc" }, "the lines": { show: "lines", fn: "json::parse_number" },
  "the hints": { show: "hints" }, "hidden functions": { show: "table", hide: "^json" }, "grouped libraries": { show: "flame", group: "1" },
  "collapsed recursion": { show: "flame", collapse: "1", dir: "flame", colour: "kind" },
})) {
  test(`${way} of an address are shown again after loading`, async (scene) => {
    const page = await scene.open(addressOf("explore", { ...checkout, ...params } as Record<string, string>));
    await settle(page);
    const shown = await textOf(page, "section.panel");
    assert.ok(shown.length > 60, shown);
    await page.reload();
    await settle(page);
    await until("it is the same", async () => (await textOf(page, "section.panel")) === shown);
  });
}

test("a function that is hidden leaves its callers' totals as they are", async (scene) => {
  const { functions } = await top(scene, "rows=0");
  const serve = functions.find((one) => one.name === "http::Server::serve")!;
  const page = await scene.open(addressOf("explore", { ...checkout, show: "table", hide: "^json", search: "Server::serve" }), { width: 1600 });
  await settle(page);
  await sees(page, "Hidden: ^json");
  const row = page.getByRole("grid", { name: "Functions" }).getByRole("row").nth(1);
  assert.equal((await row.getByRole("gridcell").nth(3).innerText()).trim(), formatValue(serve.total, "nanoseconds"));
});

async function taken(page: Page, item: string): Promise<{ download: Download; content: Buffer }> {
  await page.getByRole("button", { name: "Export" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: item, exact: true }).click()]);
  return { download, content: readFileSync(await download.path()) };
}

test("pictures, tables and files can be taken away", async (scene) => {
  const page = await scene.open(addressOf("explore", { ...checkout }), { width: 1600 });
  await settle(page);
  const png = await taken(page, "PNG");
  assert.deepEqual([...png.content.subarray(1, 4)], [...Buffer.from("PNG")]);
  assert.match((await taken(page, "SVG")).content.toString(), /^<svg[\s\S]*json::parse[\s\S]*<\/svg>\s*$/);
  const csv = (await taken(page, "CSV")).content.toString();
  const { functions } = await top(scene, "rows=1");
  assert.ok(csv.includes(functions[0].name) && csv.includes(String(functions[0].self)), csv.slice(0, 300));
  const folded = (await taken(page, "Folded stacks")).content.toString();
  assert.match(folded, /^checkout;start_thread;.* \d+$/m);
  assert.deepEqual([...(await taken(page, "pprof")).content.subarray(0, 2)], [0x1f, 0x8b]);
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "Copy as hearth query" }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^hearth query checkout\.cpu/);
});

test("following now keeps the zoom", async (scene) => {
  const front = await scene.front("shop");
  const zoom = "checkout;start_thread;pool::Worker::run";
  const page = await scene.open(addressOf("explore", { query: "checkout.cpu", from: "now-6h", until: "now", live: "1", show: "flame", zoom }), { at: front.url });
  await settle(page);
  const nAsked = (): number => front.seen.filter((path) => path.includes("/flamegraph?")).length;
  const before = nAsked();
  await until("the graph was asked for again twice", () => nAsked() >= before + 2, 25000);
  const crumbs = page.getByRole("navigation", { name: "Zoomed to" });
  assert.equal(await crumbs.locator("[aria-current]").innerText(), "pool::Worker::run");
  assert.equal(new URL(page.url()).searchParams.get("zoom"), zoom);
});

test("the frame's menu leads on", async (scene) => {
  const id = await uploadExample(await scene.server("shop"), scene.ui, "checkout.folded");
  const page = await scene.open(`/adhoc/${id}?show=flame&sel=checkout`);
  await settle(page);
  await page.locator("[role=application]").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: /^Callers and callees/ }).click();
  await until("the sandwich is shown", () => page.url().includes("show=sandwich"));
  await showWay(page, "Flame");
  await page.locator("[role=application]").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: /^Copy the name/ }).click();
  await sees(page, "The name is copied.");
});

test("the menu of a frame at the edge is whole, and closing it leaves the page where it was", async (scene) => {
  const page = await scene.open(addressOf("explore", { ...checkout, show: "flame" }));
  await settle(page);
  const graph = (await graphOf(page).boundingBox())!;
  const widthAt = async (x: number): Promise<number> => {
    await page.mouse.click(x, graph.y + 60, { button: "right" });
    const box = (await page.getByRole("menu").boundingBox())!;
    const { width, height } = page.viewportSize()!;
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, JSON.stringify(box));
    await page.keyboard.press("Escape");
    return box.width;
  };
  assert.equal(await widthAt(graph.x + graph.width - 20), await widthAt(graph.x + 60), "as wide as elsewhere");
  assert.equal(await page.evaluate(() => scrollY), 0);
});
