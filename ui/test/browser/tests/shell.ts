// SPDX-License-Identifier: Apache-2.0
// What is around the views.

import assert from "node:assert/strict";
import { testsOf } from "../harness.ts";
import "../servers.ts";

const test = testsOf("shell");

test("the seeded numbers are what the server answers", async ({ server }) => {
  const shop = await server("shop");
  const { functions, unit } = await shop.get<{ functions: unknown[]; unit: string }>("/api/v1/top?query=checkout.cpu&from=now-2h");
  assert.equal(unit, "nanoseconds");
  assert.ok(functions.length > 20);
});
