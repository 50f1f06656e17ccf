// SPDX-License-Identifier: Apache-2.0
// The servers that tests ask for, and what is in them.

import { defineServer } from "./harness.ts";
import { seedShop } from "./seed.ts";

/** The end of what was seeded: the last whole minute. */
export const seededUntil = Math.floor(Date.now() / 60e3) * 60e3;

defineServer("shop", { fill: (server, ui) => seedShop(server, ui, seededUntil) });
defineServer("empty", { fill: () => Promise.resolve() });
defineServer("small", { options: ["--max-body-size", "64KiB"], fill: () => Promise.resolve() });
