// SPDX-License-Identifier: Apache-2.0
// A query, a range of time, a timeline and a flame graph.

import assert from "node:assert/strict";
import { formatCores, formatValue } from "../../../src/lib/format.ts";
import { addressOf, lastHour, rangeOf } from "../addresses.ts";
import { sees, settle, testsOf, textOf, until } from "../harness.ts";

const test = testsOf("explore");
const checkout = { query: "checkout.cpu", ...lastHour };

function paramOf(url: string, name: string): string | null {
  return new URL(url).searchParams.get(name);
}

test("the total is the server's", async (scene) => {
  const server = await scene.server("shop");
  const { total } = await server.get<{ total: number }>(`/api/v1/top?query=checkout.cpu&from=${lastHour.from}&until=${lastHour.until}&rows=1`);
  const page = await scene.open(addressOf("explore", checkout));
  await settle(page);
  await sees(page, formatValue(total, "nanoseconds"), ".panel-total");
});

interface SeriesAnswer {
  groups: { labels: Record<string, string>; points: (number | null)[] }[];
}

test("the timeline says of each group what the server answers", async (scene) => {
  const page = await scene.open("/status");
  const answers: SeriesAnswer[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/timeseries?")) void response.json().then((answer: SeriesAnswer) => answers.push(answer), () => undefined);
  });
  await page.goto((await scene.address("shop")) + addressOf("explore", { ...checkout, by: "region" }));
  await settle(page);
  await until("the legend has the means of the last answer", async () => {
    const shown = await textOf(page);
    const groups = answers.at(-1)?.groups ?? [];
    return groups.length === 2 && groups.every(({ labels, points }) => {
      const known = points.filter((point): point is number => point !== null);
      return shown.includes(`${labels.region} ${formatCores(known.reduce((sum, point) => sum + point, 0) / known.length)}`);
    });
  });
});

test("clicks change the text of the query, and the text what is picked", async (scene) => {
  const page = await scene.open(addressOf("explore", checkout));
  await settle(page);
  const service = page.getByRole("combobox", { name: "Query: service" });
  await service.click();
  await service.fill("sea");
  await page.getByRole("option", { name: /^search/ }).click();
  await until("the address says so", () => /^search\b/.test(paramOf(page.url(), "query") ?? ""));
  await settle(page);
  const text = page.getByRole("combobox", { name: "Query as text" });
  await text.fill('frontend.cpu{region="eu-west"}');
  await text.press("Enter");
  await until("the address says that too", () => paramOf(page.url(), "query") === 'frontend.cpu{region="eu-west"}');
  await until("the picker shows it", async () => (await service.inputValue()) === "frontend");
  await page.goBack();
  await until("back goes back", () => /^search\b/.test(paramOf(page.url(), "query") ?? ""));
});

test("a query that is wrong is told by the server's sentence", async (scene) => {
  const page = await scene.open(addressOf("explore", { query: "checkout.cpu{region=", ...lastHour }), { allows: [/400/] });
  await settle(page);
  await until("it is told", async () => (await page.getByRole("alert").count()) > 0);
});

test("a time without profiles says where there are some", async (scene) => {
  const page = await scene.open(addressOf("explore", { query: "checkout.cpu", ...rangeOf(3000, 2900) }));
  await settle(page);
  await sees(page, "There are no profiles of this query in this time");
  await page.getByRole("button", { name: "Show that time" }).click();
  await settle(page);
  await until("there they are", async () => !(await textOf(page, "main")).includes("There are no profiles"));
});

test("without a query the busiest service is shown", async (scene) => {
  const page = await scene.open(addressOf("explore", lastHour));
  await until("search is it", () => /^search\b/.test(paramOf(page.url(), "query") ?? ""));
});

test("the heat map and the table of the timeline are there", async (scene) => {
  const page = await scene.open(addressOf("explore", { ...checkout, chart: "profiles" }));
  await settle(page);
  await sees(page, "How values are spread over time");
  await page.getByRole("button", { name: "Stack", exact: true }).click();
  await page.getByRole("button", { name: "As a table" }).click();
  await until("the table has rows", async () => (await page.locator("figure").getByRole("row").count()) > 5);
});

test("a note is kept and shown in the timeline", async (scene) => {
  const page = await scene.open(addressOf("explore", { query: "payments.cpu", from: "now-1h", until: "now" }));
  await settle(page);
  await page.getByRole("button", { name: "+ Note" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").first().fill("Deployed <b>2.0.2</b>");
  await dialog.getByRole("button", { name: /note|keep|save|add/i }).last().click();
  await until("the dialog is gone", async () => (await dialog.count()) === 0);
  await until("the note is there", async () => (await page.locator("main").innerHTML()).includes("Deployed &lt;b&gt;2.0.2"));
});

test("what is not looked at any more is not asked for any more", async (scene) => {
  const front = await scene.front("shop");
  front.rules = [{ path: /flamegraph/, delayMs: 8000 }];
  const page = await scene.open(addressOf("explore", checkout), { at: front.url });
  const cancelled: string[] = [];
  page.on("requestfailed", (request) => cancelled.push(request.url()));
  await until("the flame graph is asked for", () => front.seen.some((path) => path.includes("flamegraph")));
  await page.getByRole("link", { name: "Status" }).click();
  await until("the request is cancelled", () => cancelled.some((url) => url.includes("flamegraph")));
  await settle(page);
  assert.equal(await page.locator(".failure").count(), 0);
});
