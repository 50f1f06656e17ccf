// SPDX-License-Identifier: Apache-2.0
// A small shop as the tests and the pictures see it: five services over the last day, the same numbers every time. The
// checkout service got a new version forty minutes ago, whose promotion rules are slower.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Hearth } from "./hearth.ts";
import { metricsRequest } from "./metrics.ts";
import { makePprof, type Frame, type Sample } from "./pprof.ts";

export interface Stacks {
  frames: Frame[];
  weight: number;
}

/** Numbers from 0 to 1, always the same ones. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function hashOf(text: string): number {
  let hash = 0;
  for (const letter of text) hash = (Math.imul(hash, 31) + letter.codePointAt(0)!) | 0;
  return hash >>> 0;
}

/** Where a function would be, going by its name: the kernel, a package of Go or Java, a file of its own. */
function frameOf(text: string): Frame {
  const line = 12 + (hashOf(text) % 480);
  const kernel = /^(.*)_\[k\]$/.exec(text);
  if (kernel) return { name: kernel[1], module: "[kernel.kallsyms]" };
  const name = text.replace(/_\[i\]$/, "");
  const python = /^(\S+) \((\S+\.(?:py|js))\)$/.exec(name);
  if (python) return { name: python[1], file: python[2], line };
  const go = /^([\w./]+?)\.(?:\(\*?\w+\)\.)?\w+$/.exec(name);
  if (go && /^(net|runtime|encoding|compress|search|sort|github)/.test(name)) return { name, file: `${go[1]}/${go[1].split("/").pop()}.go`, line, module: "search" };
  const java = /^((?:\w+\.)+)(\w+)\.(\w+)$/.exec(name);
  if (java) return { name, file: `${java[2]}.java`, line };
  const scoped = /^(\w+)::/.exec(name);
  if (scoped) return { name, file: `src/${scoped[1]}.cc`, line, module: "/usr/bin/checkout" };
  return { name, module: "/usr/lib/x86_64-linux-gnu/libc.so.6" };
}

export function stacksOf(folded: string): Stacks[] {
  return folded.trim().split("\n").map((line) => {
    const space = line.lastIndexOf(" ");
    return { frames: line.slice(0, space).split(";").map(frameOf), weight: Number(line.slice(space + 1)) };
  });
}

const search = `
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;search.(*Index).Lookup;search.(*Posting).Next;search.decodeDelta 1840
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;search.(*Index).Lookup;search.(*Posting).Next 920
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;search.(*Index).Lookup;search.(*Posting).SkipTo;search.decodeDelta 610
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;search.(*Ranker).Score;search.bm25 1320
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;search.(*Ranker).Score;runtime.mapaccess2_faststr 480
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;search.(*Ranker).Top;sort.Slice;sort.pdqsort_func;search.(*Ranker).Top.func1 540
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;encoding/json.Marshal;encoding/json.(*encodeState).reflectValue;encoding/json.structEncoder.encode 410
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;encoding/json.Marshal;encoding/json.(*encodeState).reflectValue;runtime.mallocgc 350
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;compress/gzip.(*Writer).Write;compress/flate.(*compressor).deflate 300
runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject 520
runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject;runtime.greyobject 240
runtime.mcall;runtime.park_m;runtime.schedule;runtime.findRunnable;runtime.netpoll;runtime.epollwait 190`;
const frontend = `
processTicksAndRejections (node:internal/process/task_queues.js);renderPage (app/server.js);renderToString (node_modules/view/render.js);renderNode (node_modules/view/render.js);renderNode (node_modules/view/render.js);escapeHtml (node_modules/view/escape.js) 980
processTicksAndRejections (node:internal/process/task_queues.js);renderPage (app/server.js);renderToString (node_modules/view/render.js);renderNode (node_modules/view/render.js);ProductCard (app/components/product.js) 760
processTicksAndRejections (node:internal/process/task_queues.js);renderPage (app/server.js);renderToString (node_modules/view/render.js);renderNode (node_modules/view/render.js);PriceTag (app/components/price.js);format (app/lib/money.js) 340
processTicksAndRejections (node:internal/process/task_queues.js);renderPage (app/server.js);loadCart (app/cart.js);parseJson (app/lib/json.js) 420
onStreamRead (node:internal/stream_base_commons.js);parserOnHeadersComplete (node:_http_common.js);parserOnIncoming (node:_http_server.js);route (app/router.js);matchPath (app/router.js) 290
(garbage collector);scavenge 330
(garbage collector);markCompact 140`;
const recommend = `
serve (recommend/server.py);predict (recommend/model.py);embed (recommend/model.py);matmul (numpy/core/multiarray.py);cblas_sgemm 2450
serve (recommend/server.py);predict (recommend/model.py);embed (recommend/model.py);lookup (recommend/vectors.py) 610
serve (recommend/server.py);predict (recommend/model.py);rank (recommend/model.py);argpartition (numpy/core/fromnumeric.py) 470
serve (recommend/server.py);features (recommend/features.py);history (recommend/features.py);loads (json/decoder.py);raw_decode (json/decoder.py) 830
serve (recommend/server.py);features (recommend/features.py);normalise (recommend/features.py) 360
serve (recommend/server.py);respond (recommend/server.py);dumps (json/encoder.py) 210`;
const payments = `
java.lang.Thread.run;io.net.EventLoop.run;com.shop.payments.ChargeHandler.handle;com.shop.payments.FraudRules.evaluate;java.util.HashMap.getNode 540
java.lang.Thread.run;io.net.EventLoop.run;com.shop.payments.ChargeHandler.handle;com.shop.payments.FraudRules.evaluate;com.shop.payments.Rule.test 880
java.lang.Thread.run;io.net.EventLoop.run;com.shop.payments.ChargeHandler.handle;com.shop.payments.Signer.sign;sun.security.rsa.RSACore.crypt;java.math.BigInteger.oddModPow 1240
java.lang.Thread.run;io.net.EventLoop.run;com.shop.payments.ChargeHandler.handle;com.shop.payments.Ledger.append;java.util.concurrent.locks.ReentrantLock.lock 410
java.lang.Thread.run;io.net.EventLoop.run;io.net.ssl.SslHandler.decode;sun.security.ssl.AESGCM.decrypt 380
GCTaskThread::run;G1ParScanThreadState::trim_queue 460`;

const heap = `
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;search.(*Index).Lookup;search.newPosting 41
main.main;search.OpenIndex;search.(*Index).load;search.readTerms 210
main.main;search.OpenIndex;search.(*Index).load;search.readPostings 480
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Handler).Query;encoding/json.Marshal;bytes.growSlice 37
main.main;net/http.(*Server).Serve;net/http.(*conn).serve;search.(*Cache).Put 128`;

const minute = 60e3;
const day = 24 * 60; // in minutes
const cpuTypes: [string, string][] = [["samples", "count"], ["cpu", "nanoseconds"]];
const periodNs = 10e6;

/** A profile of `lengthMs` in which `cores` processors were busy. */
export function cpuProfile(stacks: readonly Stacks[], cores: number, timeMs: number, lengthMs: number, random: () => number): Uint8Array {
  const total = stacks.reduce((sum, one) => sum + one.weight, 0);
  const wanted = (cores * lengthMs) / 10;
  const samples: Sample[] = [];
  for (const one of stacks) {
    const n = Math.floor((one.weight / total) * wanted * (0.85 + 0.3 * random()) + random());
    if (n > 0) samples.push({ stack: one.frames, values: [n, n * periodNs] });
  }
  return makePprof({ types: cpuTypes, samples, timeMs, durationMs: lengthMs, period: { type: "cpu", unit: "nanoseconds", value: periodNs } });
}

function heapProfile(stacks: readonly Stacks[], scale: number, timeMs: number, random: () => number): Uint8Array {
  const samples = stacks.map((one) => {
    const bytes = Math.round(one.weight * 524288 * scale * (0.95 + 0.1 * random()));
    return { stack: one.frames, values: [Math.ceil(bytes / 4096), bytes] };
  });
  return makePprof({ types: [["inuse_objects", "count"], ["inuse_space", "bytes"]], samples, timeMs, period: { type: "space", unit: "bytes", value: 524288 } });
}

function ingestPath(service: string, labels: Record<string, string>, timeMs: number, lengthMs: number): string {
  const name = `${service}{${Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(",")}}`;
  return `/ingest?name=${encodeURIComponent(name)}&from=${Math.round(timeMs / 1000)}&until=${Math.round((timeMs + lengthMs) / 1000)}&format=pprof&spyName=gospy`;
}

function* profilesOfShop(ui: string, nowMs: number): Generator<{ path: string; body: Uint8Array }> {
  const example = (name: string): Stacks[] => stacksOf(readFileSync(join(ui, "../examples", name), "utf8"));
  const before = example("checkout.folded");
  const after = example("checkout-next.folded");
  const random = randomOf(8);
  const services: { name: string; stacks: Stacks[]; cores: number; regions: string[] }[] = [
    { name: "checkout", stacks: before, cores: 1.6, regions: ["eu-west", "us-east"] },
    { name: "search", stacks: stacksOf(search), cores: 2.4, regions: ["eu-west", "us-east"] },
    { name: "frontend", stacks: stacksOf(frontend), cores: 0.9, regions: ["eu-west"] },
    { name: "recommend", stacks: stacksOf(recommend), cores: 1.2, regions: ["eu-west"] },
    { name: "payments", stacks: stacksOf(payments), cores: 0.5, regions: ["eu-west"] },
  ];
  const heapStacks = stacksOf(heap);
  /* Every minute of the last hour and a bit, and of the same a day before; every ten minutes of the rest. */
  const isDense = (age: number): boolean => age <= 70 || (age > day && age <= day + 70);
  const ages: number[] = [];
  for (let age = day + 120; age >= 1; age -= isDense(age) ? 1 : 10) ages.push(age);
  for (const age of ages) {
    const timeMs = nowMs - age * minute;
    const lengthMs = isDense(age) ? minute : 10 * minute;
    const wave = 1 + 0.25 * Math.sin((age / 1440) * 2 * Math.PI) + 0.05 * Math.sin(age / 7);
    for (const { name, stacks, cores, regions } of services) {
      for (const region of regions) {
        const isNew = name === "checkout" && age <= 40;
        const labels = { region, version: name === "checkout" ? (isNew ? "1.5.0" : "1.4.2") : "2.0.1" };
        const used = isNew ? after : stacks;
        const load = cores * wave * (region === "us-east" ? 0.7 : 1) * (isNew ? 1.4 : 1);
        yield { path: ingestPath(name, labels, timeMs, lengthMs), body: cpuProfile(used, load, timeMs, lengthMs, random) };
      }
    }
    yield { path: ingestPath("search", { region: "eu-west", version: "2.0.1" }, timeMs, 0), body: heapProfile(heapStacks, 1.3 - age / 5000, timeMs, random) };
  }
}

/** Fills `server`; the last profile began a minute before `nowMs`. */
export async function seedShop(server: Hearth, ui: string, nowMs: number): Promise<void> {
  await server.postAll(profilesOfShop(ui, nowMs));
  await server.post("/v1/metrics", metricsRequest("checkout", nowMs, 70), "application/json");
}
