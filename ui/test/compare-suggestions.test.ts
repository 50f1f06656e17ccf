// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { versionsOf } from "../src/views/compare/Suggestions.tsx";

const group = (service_name: string, service_version = "") => ({ labels: { service_name, service_version }, sum: 0, points: [] });

test("services are suggested with their versions in order, the server itself last", () => {
  const groups = [group("hearth"), group("shop", "1.10.0"), group("shop", "1.9.0"), group(""), group("cart")];
  assert.deepEqual(versionsOf(groups), [
    { service: "shop", versions: ["1.9.0", "1.10.0"] },
    { service: "cart", versions: [] },
    { service: "hearth", versions: [] },
  ]);
});
