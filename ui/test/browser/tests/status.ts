// SPDX-License-Identifier: Apache-2.0
// How the server does.

import assert from "node:assert/strict";
import { sees, settle, testsOf, until } from "../harness.ts";

const test = testsOf("status");

interface Source {
  service: string;
  uploads: number;
  stored: number;
}

test("sources and storage are what the server says", async (scene) => {
  const server = await scene.server("shop");
  const page = await scene.open("/status", { width: 1400, height: 1400 });
  await settle(page);
  const { version, sources } = await server.get<{ version: string; sources: Source[] }>("/api/v1/status");
  await sees(page, version);
  const grid = page.getByRole("grid", { name: "Sources" });
  for (const source of sources) {
    const row = grid.getByRole("row").filter({ has: page.getByRole("link", { name: source.service, exact: true }) });
    const cells = await row.getByRole("gridcell").allInnerTexts();
    assert.ok(cells.some((text) => text.replaceAll(/\D/g, "") === String(source.stored)), `${source.service}: ${cells.join(" | ")} has no ${source.stored}`);
  }
});

test("effective options are shown with where they were set", async (scene) => {
  const page = await scene.open("/status", { at: await scene.address("small"), height: 1400 });
  await settle(page);
  await page.getByRole("searchbox", { name: "Search options" }).fill("max-body-size");
  const row = page.getByRole("grid", { name: "Options" }).getByRole("row").nth(1);
  await until("it is found", async () => /max-body-size\s+64KiB\s+--max-body-size/.test(await row.innerText()));
});
