// SPDX-License-Identifier: Apache-2.0
// The pictures of docs/images, and how each of them comes about.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { addressOf, compareAddress, lastHour, uploadExample } from "./addresses.ts";
import { Room, settle, Stage, type Theme, type Tools } from "./harness.ts";
import type { Hearth } from "./hearth.ts";
import { shrink } from "./png.ts";
import { placed, traceIds } from "./seedTraces.ts";

interface Picture {
  name: string;
  path: (shop: Hearth, ui: string) => Promise<string> | string;
  width?: number;
  server?: string;
  act?: (page: Page) => Promise<void>;
}

const hourOfCheckout = { query: "checkout.cpu", ...lastHour };
const pictures: Picture[] = [
  { name: "fleet", path: () => "/" },
  { name: "first-run", path: () => "/", server: "empty" },
  { name: "explore", path: () => addressOf("explore", { ...hourOfCheckout, by: "version" }) },
  { name: "search", path: () => addressOf("explore", { ...hourOfCheckout, by: "region", show: "flame", search: "regex|json" }) },
  { name: "sandwich", path: () => addressOf("explore", { ...hourOfCheckout, show: "sandwich", fn: "malloc" }) },
  { name: "narrow", path: () => addressOf("explore", { ...hourOfCheckout }), width: 400 },
  { name: "trace", path: () => addressOf(`traces/${traceIds.checkout}`, { span: placed.spanId, flame: "own", path: "1" }), server: "traces" },
  { name: "compare", path: compareAddress },
  { name: "status", path: () => "/status" },
  {
    name: "adhoc",
    path: async (shop, ui) => `/adhoc/${await uploadExample(shop, ui, "checkout.folded")}?against=${await uploadExample(shop, ui, "checkout-next.folded")}`,
  },
];

async function take(stage: Stage, picture: Picture, theme: Theme): Promise<Buffer> {
  const room = new Room(stage);
  const kind = picture.server ?? "shop";
  const path = await picture.path(await stage.server(kind), stage.ui);
  const page = await room.open(path, { at: await stage.address(kind), theme, width: picture.width ?? 1280, height: 800 });
  await settle(page);
  await picture.act?.(page);
  await page.waitForTimeout(300);
  const bytes = await page.screenshot();
  await room.close();
  for (const complaint of room.watch.complaints) console.error(`${picture.name}: ${complaint}`);
  return bytes;
}

export async function shoot(tools: Tools): Promise<void> {
  const folder = join(tools.ui, "../docs/images");
  mkdirSync(folder, { recursive: true });
  const stage = await Stage.start(tools);
  try {
    for (const picture of pictures) {
      if (tools.words.length > 0 && !tools.words.some((word) => picture.name.includes(word))) continue;
      for (const theme of ["light", "dark"] as const) {
        const path = join(folder, `${picture.name}-${theme}.png`);
        const bytes = shrink(await take(stage, picture, theme));
        writeFileSync(path, bytes);
        console.log(`docs/images/${picture.name}-${theme}.png: ${bytes.length} bytes`);
      }
    }
  } finally {
    await stage.stop();
  }
}
