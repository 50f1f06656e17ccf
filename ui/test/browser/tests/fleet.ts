// SPDX-License-Identifier: Apache-2.0
// The table of services, and what is there before the first profile comes.

import assert from "node:assert/strict";
import { addressOf, lastHour } from "../addresses.ts";
import { sees, settle, testsOf, until } from "../harness.ts";

const test = testsOf("fleet");
const hourNs = 3600e9;

test("each service uses as many cores as the server answers", async (scene) => {
  const server = await scene.server("shop");
  const page = await scene.open(addressOf("", lastHour), { width: 1400 });
  const rows = page.getByRole("grid", { name: "Services" }).getByRole("row");
  await until("all services are listed", async () => (await rows.count()) === 6);
  for (const service of ["checkout", "search", "frontend", "recommend", "payments"]) {
    const { total } = await server.get<{ total: number }>(`/api/v1/top?query=${service}.cpu&from=${lastHour.from}&until=${lastHour.until}&rows=1`);
    const row = rows.filter({ hasText: service });
    const shown = Number(await row.getByRole("gridcell").nth(1).innerText());
    assert.ok(Math.abs(shown - total / hourNs) < 0.0006, `${service} shows ${shown} cores and uses ${total / hourNs}`);
  }
});

test("services are sorted and filtered, and the address says how", async (scene) => {
  const page = await scene.open(addressOf("", lastHour), { width: 1400 });
  const names = async (): Promise<string[]> => (await page.getByRole("grid").locator("[role=row] a[href*=explore]").allInnerTexts()).map((one) => one.trim());
  await until("all services are listed", async () => (await names()).length === 5);
  await page.getByRole("columnheader", { name: "Service" }).getByRole("button").click();
  await until("they are in the order of the alphabet", async () => (await names()).join() === "checkout,frontend,payments,recommend,search");
  await page.reload();
  await until("they still are", async () => (await names()).join() === "checkout,frontend,payments,recommend,search");
  await page.keyboard.press("/");
  await page.keyboard.type("pay");
  await until("one is left", async () => (await names()).join() === "payments");
  assert.match(page.url(), /filter=pay/);
  await page.keyboard.press("End");
  await page.keyboard.type("zzz");
  await sees(page, "No service has “payzzz” in its name");
  await page.getByRole("button", { name: "Show all" }).click();
  await until("all are back", async () => (await names()).length === 5);
});

test("a service leads to Explore, and back leads to the fleet", async (scene) => {
  const page = await scene.open(addressOf("", lastHour));
  await page.getByRole("link", { name: "search", exact: true }).click();
  await until("Explore shows it", () => /\/explore\?.*query=.*search/.test(decodeURIComponent(page.url())));
  await settle(page);
  await page.goBack();
  await until("the fleet is back", async () => (await page.getByRole("grid", { name: "Services" }).count()) === 1);
});

test("without profiles there is a guide, and the first profile ends it", async (scene) => {
  const server = await scene.server("first");
  const page = await scene.open("/", { at: await scene.address("first") });
  await sees(page, "hearth demo");
  await server.post(`/ingest?name=mine.cpu&from=now-20s&until=now-10s&sampleRate=100`, "main;work 500\n");
  await sees(page, "mine", "main", 20000);
});
