// SPDX-License-Identifier: Apache-2.0
// Files that somebody brings along.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { sees, testsOf, until, type Scene } from "../harness.ts";
import { plainEnvironment } from "../hearth.ts";
import { usePanel } from "../panel.ts";
import { makePprof } from "../pprof.ts";
import "../servers.ts";

const test = testsOf("adhoc");
const frames = (text: string): { name: string }[] => text.split(";").map((name) => ({ name }));

/** Lets go of files over the page. */
async function drop(page: Page, files: { name: string; content: string }[]): Promise<void> {
  await page.evaluate((list) => {
    const transfer = new DataTransfer();
    for (const { name, content } of list) transfer.items.add(new File([content], name));
    for (const type of ["dragover", "drop"]) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
  }, files);
}

/** Chooses files in the page that is shown. */
async function choose(page: Page, ...paths: string[]): Promise<void> {
  await page.locator("input[type=file]").first().setInputFiles(paths);
}

function exampleOf(scene: Scene, name: string): string {
  return join(scene.ui, "../examples", name);
}

async function idOf(page: Page): Promise<string> {
  return await until("the address has an id", () => /\/adhoc\/([0-9a-f]{32})/.exec(page.url())?.[1]);
}

test("a chosen file is shown under a link that others can open", async (scene) => {
  const page = await scene.open("/adhoc");
  await choose(page, exampleOf(scene, "checkout.folded"));
  await sees(page, "checkout.folded");
  await sees(page, /kept until 20\d\d-/);
  await sees(page, "10 k");
  await idOf(page);
  const again = await scene.open(page.url(), { theme: "dark" });
  await sees(again, "checkout.folded");
  await sees(again, "10 k");
});

test("a file can be dropped on every view", async (scene) => {
  const page = await scene.open("/status");
  await drop(page, [{ name: "two.folded", content: "main;first 3\nmain;second 4\n" }]);
  await idOf(page);
  await sees(page, "two.folded");
  await page.goBack();
  await sees(page, "Look at a profile of your own");
});

test("two files are compared, and can be swapped", async (scene) => {
  const page = await scene.open("/adhoc");
  await drop(page, [{ name: "before.folded", content: "main;a 10\nmain;b 10\n" }, { name: "after.folded", content: "main;a 10\nmain;b 30\n" }]);
  await until("both are in the address", () => /\/adhoc\/[0-9a-f]{32}\?against=[0-9a-f]{32}/.test(page.url()));
  await sees(page, /Before before\.folded.*After after\.folded/);
  const before = page.url();
  await page.getByRole("button", { name: "Swap" }).click();
  await sees(page, /Before after\.folded.*After before\.folded/);
  await page.goBack();
  await sees(page, /Before before\.folded.*After after\.folded/);
  assert.equal(page.url(), before);
  await sees(page, "20 → 40", ".panel-total");
  await page.getByRole("button", { name: "Shares" }).click();
  await sees(page, "20 → 20", ".panel-total");
  await page.getByRole("button", { name: "Stop comparing" }).click();
  await until("only the first is shown", () => !page.url().includes("against"));
});

test("the type of values is chosen, and kept in the address", async (scene) => {
  const path = join(scene.folder, "heap.pb");
  writeFileSync(path, makePprof({
    types: [["inuse_objects", "count"], ["inuse_space", "bytes"]],
    samples: [{ stack: frames("main;keep"), values: [7, 3 << 20] }],
  }));
  const page = await scene.open("/adhoc");
  await choose(page, path);
  await page.getByRole("button", { name: "inuse_space" }).click();
  await sees(page, "3 MiB");
  const objects = page.getByRole("button", { name: "inuse_objects" });
  await objects.click();
  const isPressed = async (): Promise<boolean> => (await objects.getAttribute("aria-pressed")) === "true";
  await until("the type is chosen", isPressed);
  await page.reload();
  await until("the type is as it was", isPressed);
  await page.goBack();
  await sees(page, "3 MiB");
});

test("what cannot be read is answered by the server's sentence", async (scene) => {
  const page = await scene.open("/adhoc", { allows: [/501|400|413|415|422/] });
  await drop(page, [{ name: "letter.txt", content: "Dear all" }]);
  await sees(page, "not a profile of a known kind");
  await sees(page, "it begins with 'Dear all'");
  await drop(page, [{ name: "empty", content: "" }]);
  await sees(page, "the body is empty; it should be a profile");
  await page.getByRole("button", { name: "Take this message away" }).click();
  assert.equal(await page.locator(".failure").count(), 0);
});

test("a link to something that is gone says so", async (scene) => {
  const page = await scene.open("/adhoc/0123456789abcdef0123456789abcdef", { allows: [/404/] });
  await sees(page, /0123456789abcdef/);
  await page.getByRole("link", { name: "All uploads" }).click();
  await sees(page, "Look at a profile of your own");
});

test("uploads are listed, two of them compared, and one deleted", async (scene) => {
  const server = await scene.server("uploads");
  for (const name of ["one.folded", "two.folded"]) await server.post(`/api/v1/adhoc?name=${name}`, "main;work 5\n");
  const page = await scene.open("/adhoc", { at: await scene.address("uploads") });
  const table = page.getByRole("grid", { name: "Uploaded files" });
  await until("both are listed", async () => (await table.getByRole("row").count()) === 3);
  await page.getByLabel("Pick one.folded to compare it").check();
  await page.getByLabel("Pick two.folded to compare it").check();
  await page.getByRole("button", { name: "Compare the picked two" }).click();
  await sees(page, /Before one\.folded.*After two\.folded/);
  await page.goBack();
  await page.getByRole("button", { name: "Delete one.folded" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await until("one is left", async () => (await table.getByRole("row").count()) === 2);
  const { profiles } = await server.get<{ profiles: { name: string }[] }>("/api/v1/adhoc");
  assert.deepEqual(profiles.map((one) => one.name), ["two.folded"]);
});

test("a long upload shows how far it got and can be cancelled", async (scene) => {
  const front = await scene.front("empty");
  front.rules = [{ path: /^\/api\/v1\/adhoc\?/, delayMs: 20000 }];
  const page = await scene.open("/adhoc", { at: front.url });
  await drop(page, [{ name: "slow.folded", content: "main;work 5\n".repeat(1000) }]);
  await sees(page, /slow\.folded/);
  await page.getByRole("button", { name: "Cancel" }).click();
  await until("it is over", async () => (await page.locator(".upload-state").count()) === 0);
  assert.equal(await page.locator(".failure").count(), 0);
});

test("a file larger than the server takes is refused with a sentence", async (scene) => {
  const page = await scene.open("/adhoc", { at: await scene.address("small"), allows: [/413|ERR_/] });
  await drop(page, [{ name: "large.folded", content: "main;work 5\n".repeat(50000) }]);
  await until("it says why", async () => (await page.locator(".failure").count()) === 1);
  await sees(page, /65536|size/);
});

test("a file that works offline shows the same profile, and keeps its state in its address", async (scene) => {
  for (const [index, title] of ["checkout", "a <b>title<b> & more"].entries()) {
    const [from, path] = [join(scene.folder, `${title}.folded`), join(scene.folder, `offline ${index}.html`)];
    copyFileSync(exampleOf(scene, "checkout.folded"), from);
    execFileSync(scene.binary, ["convert", from, path], { env: plainEnvironment() });
    const page = await scene.open(pathToFileURL(path).href, { theme: index === 0 ? "light" : "dark" });
    await sees(page, "10 k", ".panel-total");
    await sees(page, title, "h1");
    await usePanel(page);
    await page.locator("[role=application]").first().focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const crumb = page.getByRole("navigation", { name: "Zoomed to" }).locator("[aria-current]");
    await until("it is zoomed", async () => (await crumb.innerText()) !== "All");
    const zoomed = await crumb.innerText();
    await page.reload();
    await until("it is zoomed after loading", async () => (await crumb.innerText()) === zoomed);
  }
});

test("a file that works offline and is damaged says so", async (scene) => {
  const shell = readFileSync(join(await scene.builtPage(), "offline.html"), "utf8").replaceAll("@TITLE@", "damaged");
  const flame = gzipSync("no flame graph at all").toString("base64");
  for (const [name, data] of [["cut", flame.slice(0, 20)], ["other", flame], ["none", ""], ["words", "no base64!"]]) {
    const path = join(scene.folder, `${name}.html`);
    writeFileSync(path, shell.replace("@DATA@", () => data));
    const page = await scene.open(`file://${path}`);
    await sees(page, "The profile in this file is damaged");
    await sees(page, "Write the file again with hearth convert.");
  }
});
