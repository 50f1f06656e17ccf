// SPDX-License-Identifier: Apache-2.0
// Every view at an address whose content does not change from one moment to the next.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scene } from "./harness.ts";
import type { Hearth } from "./hearth.ts";
import { placed, traceIds } from "./seedTraces.ts";
import { seededUntil } from "./servers.ts";

const minute = 60e3;

/** A range of time, in minutes before the end of what was seeded. */
export function rangeOf(fromMinutes: number, untilMinutes: number): { from: string; until: string } {
  return { from: String(seededUntil - fromMinutes * minute), until: String(seededUntil - untilMinutes * minute) };
}

export function addressOf(view: string, params: Record<string, string> = {}): string {
  const query = new URLSearchParams(params).toString();
  return query ? `/${view}?${query}` : `/${view}`;
}

export async function uploadExample(server: Hearth, ui: string, name: string): Promise<string> {
  const said = await server.post(`/api/v1/adhoc?name=${name}`, readFileSync(join(ui, "../examples", name)));
  return (JSON.parse(said.toString()) as { id: string }).id;
}

export const lastHour = rangeOf(60, 0);

export function compareAddress(): string {
  const before = rangeOf(60, 40);
  return addressOf("compare", { base: "checkout.cpu", "base-from": before.from, "base-until": before.until, query: "checkout.cpu", ...rangeOf(40, 0) });
}

export interface ViewCase {
  name: string;
  server: string;
  path: (scene: Pick<Scene, "server" | "ui">) => Promise<string> | string;
}

export const viewCases: ViewCase[] = [
  { name: "fleet", server: "shop", path: () => addressOf("", lastHour) },
  { name: "first run", server: "empty", path: () => "/" },
  { name: "explore", server: "shop", path: () => addressOf("explore", { query: "checkout.cpu", ...lastHour, by: "version" }) },
  { name: "traces", server: "traces", path: () => addressOf("traces", lastHour) },
  { name: "a trace", server: "traces", path: () => addressOf(`traces/${traceIds.checkout}`) },
  { name: "a span and its flame graph", server: "traces", path: () => addressOf(`traces/${traceIds.checkout}`, { span: placed.spanId, flame: "own", path: "1" }) },
  { name: "no traces", server: "empty", path: () => "/traces" },
  { name: "compare", server: "shop", path: compareAddress },
  { name: "status", server: "shop", path: () => "/status" },
  { name: "uploads", server: "shop", path: () => "/adhoc" },
  { name: "an upload", server: "shop", path: async (scene) => `/adhoc/${await uploadExample(await scene.server("shop"), scene.ui, "checkout.folded")}` },
  {
    name: "two uploads",
    server: "shop",
    path: async (scene) => {
      const server = await scene.server("shop");
      return `/adhoc/${await uploadExample(server, scene.ui, "checkout.folded")}?against=${await uploadExample(server, scene.ui, "checkout-next.folded")}`;
    },
  },
];
