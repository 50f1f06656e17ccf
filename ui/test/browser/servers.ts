// SPDX-License-Identifier: Apache-2.0
// The servers that tests ask for, and what is in them.

import { execFileSync } from "node:child_process";
import { defineServer } from "./harness.ts";
import { plainEnvironment, type Hearth } from "./hearth.ts";
import { hostileNames, hostileProfiles } from "./hostile.ts";
import { seedShop } from "./seed.ts";
import { seedTraces } from "./seedTraces.ts";

/** The end of what was seeded: the last whole minute. */
export const seededUntil = Math.floor(Date.now() / 60e3) * 60e3;

const nothing = (): Promise<void> => Promise.resolve();

function* manyServices(): Generator<{ path: string; body: string }> {
  const until = Math.floor(Date.now() / 1000) - 60;
  for (let n = 0; n < 10000; n++) {
    yield { path: `/ingest?name=service-${n}.cpu&from=${until - 10}&until=${until}&sampleRate=100`, body: `main;serve;work_${n % 50} ${1 + (n % 97)}\n` };
  }
}

/** Services and labels whose names are hostile: what the store makes of them is what people will see. */
function importHostile(dataDir: string, binary: string): void {
  for (const [index, name] of hostileNames.entries()) {
    if (name.includes("\0")) continue; /* cannot be given to a program */
    execFileSync(binary, ["import", "--data-dir", dataDir, "--label", `service_name=${name}`, "--label", `where=${name}`, "-"], {
      input: hostileProfiles[index % 2 ? "names" : "values of 2^62"](), env: plainEnvironment(), stdio: ["pipe", "ignore", "pipe"],
    });
  }
}

defineServer("shop", { fill: (server, ui) => seedShop(server, ui, seededUntil) });
defineServer("traces", { options: ["--trace-link", "https://traces.example/{trace_id}"], fill: (server) => seedTraces(server, seededUntil) });
defineServer("empty", { fill: nothing });
defineServer("uploads", { fill: nothing });
defineServer("first", { fill: nothing });
defineServer("mortal", { fill: nothing });
defineServer("small", { options: ["--max-body-size", "64KiB"], fill: nothing });
defineServer("large", { options: ["--max-body-size", "512MiB"], fill: nothing });
defineServer("many", { fill: (server: Hearth) => server.postAll(manyServices()) });
defineServer("hostile", { prepare: importHostile, fill: nothing });
