// SPDX-License-Identifier: Apache-2.0
// Hints on made-up profiles: each kind is found, and nothing is said about little.

import assert from "node:assert/strict";
import test from "node:test";
import { functionRows } from "../src/flame/aggregate.ts";
import { hintsOf, type Hint } from "../src/flame/hints.ts";
import { isRuntimeWork } from "../src/flame/runtimes.ts";
import { nameOf } from "../src/flame/tree.ts";
import { treeOf, type TreeOptions } from "./panel-trees.ts";

function hints(text: string, options: TreeOptions = { samples: [10000] }): Hint[] {
  const tree = treeOf(text, options);
  return hintsOf(tree, functionRows(tree));
}

const rest = Array.from({ length: 40 }, (_, i) => `main;work_${i} 10`).join("\n");

test("a function that takes much itself is told, with its share", () => {
  const tree = treeOf(`main;hash 200\n${rest}`, { samples: [6000] });
  const [hint, ...others] = hintsOf(tree, functionRows(tree));
  assert.equal(others.length, 0);
  assert.equal(hint.kind, "leaf");
  assert.match(hint.text, /^hash itself takes 33\.3 % of all/);
  assert.equal(nameOf(tree, hint.node), "hash");
});

test("a profile of few samples gets no hints", () => {
  assert.deepEqual(hints(`main;hash 200\n${rest}`, { samples: [40] }), []);
  assert.deepEqual(hints("main;hash 200", {}), []);
  assert.deepEqual(hints("- 0"), []);
});

test("nothing is said about a profile in which nothing stands out", () => {
  assert.deepEqual(hints(rest), []);
});

test("a leaf that many functions call evenly is told", () => {
  const callers = Array.from({ length: 12 }, (_, i) => `main;caller_${i};copy 10\nmain;caller_${i} 90`).join("\n");
  const [hint] = hints(callers);
  assert.equal(hint.kind, "shared");
  assert.match(hint.text, /^copy takes 10\.0 % itself and is called by 12 functions/);
  assert.equal(hint.show, "sandwich");
  const uneven = Array.from({ length: 12 }, (_, i) => `main;caller_${i};copy ${i === 0 ? 200 : 1}\nmain;caller_${i} 90`).join("\n");
  assert.ok(!hints(uneven).some((one) => one.kind === "shared"));
});

test("deep stacks are told, with the function that repeats", () => {
  const found = hints(`main;${"descend;".repeat(150)}leaf 100\n${rest}`).find((one) => one.kind === "deep")!;
  assert.match(found.text, /more than 100 calls deep, at most 152\. descend is \d+ times/);
});

test("garbage collection, locks and allocation are told by names of runtimes", () => {
  const kinds = (line: string) => hints(`${line}\n${rest}`).map((hint) => hint.kind);
  assert.ok(kinds("main;runtime.gcBgMarkWorker;runtime.gcDrain 100").includes("garbage"));
  assert.ok(kinds("main;handle;__pthread_mutex_lock;futex_wait 60").includes("locks"));
  assert.ok(kinds("main;build;malloc;_int_malloc 100").includes("allocation"));
  assert.deepEqual(kinds("main;build;malloc 4"), []);
});

test("what calls itself by well-known names is counted once", () => {
  const [hint] = hints(`main;build;malloc;_int_malloc;sysmalloc 100\n${rest}`).filter((one) => one.kind === "allocation");
  assert.match(hint.text, /takes 20\.0 % \(malloc\)/);
});

test("profiles of memory and of locks get no hint that they are about memory and locks", () => {
  assert.ok(!hints(`main;build;malloc 400\n${rest}`, { samples: [5000], unit: "bytes" }).some((one) => one.kind === "allocation"));
  assert.ok(!hints("main;a;sync.(*Mutex).Lock 400\nmain;b;sync.(*Mutex).Lock 10", { samples: [5000] }).some((one) => one.kind === "locks"));
});

test("names that only look like those of runtimes are not theirs", () => {
  for (const name of ["free_shipping", "mallocate_budget", "deadlock_report", "collect_orders", "shop.gc", "garbage_truck"]) {
    for (const work of ["garbage", "locks", "allocation"] as const) assert.ok(!isRuntimeWork(work, name), `${name} is ${work}`);
  }
  for (const name of ["operator new(unsigned long)", "__libc_malloc", "je_malloc", "runtime.mallocgc", "_PyObject_Malloc", "__rust_alloc"]) assert.ok(isRuntimeWork("allocation", name), name);
  for (const name of ["native_queued_spin_lock_slowpath", "sync.(*Mutex).lockSlow", "___pthread_mutex_lock", "take_gil", "java.util.concurrent.locks.ReentrantLock.lock"]) assert.ok(isRuntimeWork("locks", name), name);
  for (const name of ["G1ParScanThreadState::copy_to_survivor_space", "gc_collect_main", "v8::internal::Heap::CollectGarbage", "(garbage collector)", "gc_sweep"]) assert.ok(isRuntimeWork("garbage", name), name);
});

test("of a diff only what surely changed is told", () => {
  const options = { isDiff: true, samples: [5000, 5000] };
  const found = hints("main;a 1000 1600\nmain;b 1000 1010\nmain;c 3000 3000\nmain;d 0 300", options);
  assert.deepEqual(found.map((hint) => hint.text.split(" ")[0]), ["a", "d"]);
  assert.match(found[0].text, /^a itself grew by 600 ns \(60\.0 %\)/);
  assert.match(found[1].text, /^d itself is new and takes 300 ns/);
});
