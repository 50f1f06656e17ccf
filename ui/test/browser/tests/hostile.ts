// SPDX-License-Identifier: Apache-2.0
// Data that nobody would send on purpose, and servers that do not answer as they should.

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { addressOf, lastHour, uploadExample } from "../addresses.ts";
import { sees, settle, testsOf, textOf, until } from "../harness.ts";
import type { Hearth } from "../hearth.ts";
import { hostileProfiles, millionNodes } from "../hostile.ts";
import { usePanel } from "../panel.ts";

const test = testsOf("hostile");

async function upload(server: Hearth, name: string, bytes: Uint8Array): Promise<string> {
  return (JSON.parse(String(await server.post(`/api/v1/adhoc?name=${encodeURIComponent(name)}`, bytes))) as { id: string }).id;
}

/** Nothing of the data became part of the document. */
async function isUnharmed(page: Page): Promise<void> {
  assert.ok(!(await page.title()).includes("owned"));
  assert.equal(await page.locator("main img, main script, main b b").count(), 0);
}

for (const [name, make] of Object.entries(hostileProfiles)) {
  test(`a profile with ${name} is shown in every way`, async (scene) => {
    const server = await scene.server("shop");
    const title = `<b>${name}</b> & "co".pb`;
    const page = await scene.open(`/adhoc/${await upload(server, title, make())}`);
    await sees(page, title);
    await usePanel(page);
    await isUnharmed(page);
  });
}

test("a difference of hostile profiles is shown in every way", async (scene) => {
  const server = await scene.server("shop");
  const id = async (name: string): Promise<string> => await upload(server, name, hostileProfiles[name]());
  for (const [before, after] of [["names", "one node"], ["one node", "names"], ["zero totals", "zero totals"], ["one node", "zero totals"], ["duplicates", "duplicates"]]) {
    const page = await scene.open(`/adhoc/${await id(before)}?against=${await id(after)}`);
    await usePanel(page);
    await isUnharmed(page);
    await page.close();
  }
});

test("a graph of a million nodes is zoomed, searched and scrolled", async (scene) => {
  const server = await scene.server("large");
  const page = await scene.open(`/adhoc/${await upload(server, "million.folded", gzipSync(millionNodes(), { level: 1 }))}`, { at: await scene.address("large") });
  await settle(page);
  await usePanel(page);
  await sees(page, "million.folded");
});

test("a fleet of ten thousand services is listed", async (scene) => {
  const page = await scene.open("/", { at: await scene.address("many") });
  await sees(page, /10 ?(000|k) services/, "body", 30000);
  const grid = page.getByRole("grid").first();
  await grid.focus();
  await page.keyboard.press("End");
  await until("the last one is in sight", async () => /service-\d+/.test(await grid.locator("[role=row]").last().innerText()));
  assert.ok((await page.locator("[role=row]").count()) < 200, "only rows in sight are in the document");
  await isUnharmed(page);
});

test("services and labels with hostile names stay text", async (scene) => {
  const page = await scene.open("/", { at: await scene.address("hostile") });
  await settle(page);
  await sees(page, "<img src=x onerror");
  await isUnharmed(page);
});

test("a slow server leaves a page that says it is loading, and never a blank one", async (scene) => {
  const front = await scene.front("shop");
  front.rules = [{ path: /^\/api\//, delayMs: 1200 }];
  for (const path of ["/", addressOf("explore", { query: "checkout.cpu", ...lastHour }), "/status", "/adhoc"]) {
    const page = await scene.open(path, { at: front.url });
    assert.ok((await textOf(page, "main")).trim().length > 0, `${path} is blank while it loads`);
    await settle(page);
    assert.equal(await page.locator(".failure").count(), 0, `${path} shows a failure`);
    await page.close();
  }
});

test("an answer that ends in the middle is told, and asked for again on demand", async (scene) => {
  const front = await scene.front("shop");
  const id = await uploadExample(await scene.server("shop"), scene.ui, "checkout.folded");
  front.rules = [{ path: /format=flame/, cutsAfter: 100 }];
  const page = await scene.open(`/adhoc/${id}`, { at: front.url, allows: [/ERR_/] });
  await sees(page, /cannot be reached|in the middle of the answer/);
  front.rules = [];
  await page.getByRole("button", { name: "Try again" }).first().click();
  await until("the profile is shown", async () => (await page.locator(".failure").count()) === 0);
});

test("a server that is gone is told in every view", async (scene) => {
  const server = await scene.server("mortal");
  const front = await scene.front("mortal");
  const page = await scene.open("/adhoc", { at: front.url, allows: [/ERR_|502/] });
  await settle(page);
  await server.kill();
  for (const [name, key] of [["Fleet", "f"], ["Status", "s"], ["Ad hoc", "a"]]) {
    await page.locator("body").press("g");
    await page.locator("body").press(key);
    await until(`${name} says that the server is gone`, async () => /cannot be reached|status 502/.test(await textOf(page, "main")));
  }
});

test("two tabs do not disturb each other", async (scene) => {
  const server = await scene.server("shop");
  const id = await uploadExample(server, scene.ui, "checkout.folded");
  const first = await scene.open(`/adhoc/${id}`, { allows: [/404/] });
  const second = await scene.open(addressOf("explore", { query: "checkout.cpu", ...lastHour }));
  await settle(first);
  await settle(second);
  await first.getByRole("button", { name: "Delete" }).click();
  await first.getByRole("button", { name: "Delete it" }).click();
  await sees(first, "Look at a profile of your own");
  const third = await scene.open(`/adhoc/${id}`, { allows: [/404/] });
  await until("the deleted one is told as gone", async () => (await third.locator(".failure").count()) > 0);
  assert.equal(await second.locator(".failure").count(), 0);
});
