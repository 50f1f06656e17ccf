// SPDX-License-Identifier: Apache-2.0
// What the tests in a browser share: one browser, a fresh context for each test, and a watch over every page: an error on the
// console, an exception, a broken policy or a request to another host fails the test that opened it.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, BrowserContext, BrowserType, Page } from "playwright-core";
import { Front } from "./front.ts";
import { Hearth } from "./hearth.ts";

export type Theme = "light" | "dark";

export interface OpenOptions {
  width?: number;
  height?: number;
  theme?: Theme;
  allows?: RegExp[]; // complaints of the browser that this test provokes
  at?: string; // address of another server or of a front; the seeded server unless given
  waits?: boolean; // for the page to have drawn itself; true unless given
}

export interface Scene {
  /** A page at `path`, watched. All pages of a test share one context: tabs of one browser. */
  readonly open: (path: string, options?: OpenOptions) => Promise<Page>;
  /** A server of a kind (see servers.ts), started and filled at its first use. */
  readonly server: (kind: string) => Promise<Hearth>;
  /** Something in between, of this test's own, that can be told to misbehave. */
  readonly front: (kind: string) => Promise<Front>;
  /** Where pages of this server come from. */
  readonly address: (kind: string) => Promise<string>;
  /** The folder of the page as the sources are now. */
  readonly builtPage: () => Promise<string>;
  readonly folder: string; // for files of this run
  readonly ui: string;
  readonly binary: string;
}

type Body = (scene: Scene) => Promise<void>;
interface Test {
  name: string;
  body: Body;
}

const tests: Test[] = [];
/* Most of a test is waiting: two at once keep two processors busy. */
const atOnce = 2;

/** The function that adds tests of one file. */
export function testsOf(file: string): (name: string, body: Body) => void {
  return (name, body) => tests.push({ name: `${file}: ${name}`, body });
}

export interface Fill {
  options?: readonly string[];
  prepare?: (dataDir: string, binary: string) => void; // before it starts
  fill: (server: Hearth, ui: string) => Promise<void>;
}
const kinds = new Map<string, Fill>();
export function defineServer(kind: string, what: Fill): void {
  kinds.set(kind, what);
}

/** Asks again until `question` gives something true; its last answer or complaint is in the error. */
export async function until<T>(what: string, question: () => Promise<T> | T, timeoutMs = 10000): Promise<NonNullable<T>> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await question();
      if (answer) return answer as NonNullable<T>;
      last = answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`never came true: ${what}; at last ${last instanceof Error ? last.message : JSON.stringify(last)}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

export async function textOf(page: Page, selector = "body"): Promise<string> {
  return (await page.locator(selector).first().innerText()).replaceAll(/\s+/g, " ");
}

export async function sees(page: Page, text: string | RegExp, selector = "body", timeoutMs = 10000): Promise<void> {
  let shown = "";
  const isThere = async (): Promise<boolean> => {
    shown = await textOf(page, selector);
    return typeof text === "string" ? shown.includes(text) : text.test(shown);
  };
  await until(`'${text}' is shown`, isThere, timeoutMs).catch((error: Error) => {
    throw new Error(`${error.message}; shown is: ${shown.slice(0, 1500)}`);
  });
}

const here = /^(data|blob|about|file):/;

class Watch {
  readonly complaints: string[] = [];

  follow(page: Page, origin: string, allows: RegExp[]): void {
    const complain = (text: string): void => {
      if (!allows.some((one) => one.test(text))) this.complaints.push(text);
    };
    page.on("console", (message) => {
      if (message.type() === "error") complain(`console: ${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => complain(`exception: ${error.stack ?? error.message}`));
    page.on("crash", () => complain("the page crashed"));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !here.test(url)) complain(`request to another host: ${url}`);
    });
  }
}

export interface Tools {
  chromium: BrowserType;
  executablePath: string;
  ui: string;
  words: readonly string[];
}

/** Everything that is started once for a run. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), "hearth-browser-run-"));
  readonly binary: string;
  readonly #servers = new Map<string, Promise<Hearth>>();
  readonly #fronts = new Map<string, Promise<Front>>(); // for servers without a page
  #built: Promise<string> | null = null;

  constructor(readonly ui: string, readonly browser: Browser) {
    this.binary = process.env.HEARTH ?? join(ui, "../build/release/hearth");
  }

  static async start(tools: Tools): Promise<Stage> {
    /* Without a display, as root, and without much of /dev/shm, as on a bare machine. */
    const browser = await tools.chromium.launch({
      executablePath: tools.executablePath,
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"],
    });
    return new Stage(tools.ui, browser);
  }

  server(kind: string): Promise<Hearth> {
    const what = kinds.get(kind);
    if (!what) throw new Error(`no server is called '${kind}'`);
    let server = this.#servers.get(kind);
    if (!server) {
      server = Hearth.start(this.binary, what).then(async (started) => {
        await what.fill(started, this.ui);
        return started;
      });
      this.#servers.set(kind, server);
    }
    return server;
  }

  /** The folder of a page that was built here. */
  builtPage(): Promise<string> {
    const folder = join(this.folder, "page");
    this.#built ??= promisify(execFile)(process.execPath, [join(this.ui, "build.mjs"), folder]).then(() => folder);
    return this.#built;
  }

  async newFront(kind: string): Promise<Front> {
    const server = await this.server(kind);
    return await Front.start(server.url, (await this.#hasPage(server)) ? null : await this.builtPage());
  }

  /* HEARTH_PAGE=source tests the page of the sources, not the one that is in the binary. */
  async #hasPage(server: Hearth): Promise<boolean> {
    return process.env.HEARTH_PAGE !== "source" && (await server.hasPage());
  }

  async address(kind: string): Promise<string> {
    const server = await this.server(kind);
    if (await this.#hasPage(server)) return server.url;
    const front = this.#fronts.get(kind) ?? this.newFront(kind);
    this.#fronts.set(kind, front);
    return (await front).url;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    for (const front of this.#fronts.values()) await front.then((one) => one.stop(), () => undefined);
    for (const server of this.#servers.values()) await server.then((one) => one.stop(), () => undefined);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One context, with its pages. */
export class Room implements Scene {
  readonly watch = new Watch();
  readonly pages: Page[] = [];
  readonly #fronts: Front[] = [];
  #context: Promise<BrowserContext> | null = null;

  constructor(readonly stage: Stage) {}

  get folder(): string {
    return this.stage.folder;
  }
  get ui(): string {
    return this.stage.ui;
  }
  get binary(): string {
    return this.stage.binary;
  }

  readonly server = (kind: string): Promise<Hearth> => this.stage.server(kind);
  readonly front = async (kind: string): Promise<Front> => {
    const front = await this.stage.newFront(kind);
    this.#fronts.push(front);
    return front;
  };
  readonly address = (kind: string): Promise<string> => this.stage.address(kind);

  readonly builtPage = (): Promise<string> => this.stage.builtPage();

  readonly open = async (path: string, options: OpenOptions = {}): Promise<Page> => {
    this.#context ??= this.stage.browser.newContext({
      locale: "en-US", timezoneId: "UTC", reducedMotion: "reduce", acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await (await this.#context).newPage();
    this.pages.push(page);
    page.setDefaultTimeout(10000);
    await page.setViewportSize({ width: options.width ?? 1280, height: options.height ?? 800 });
    await page.emulateMedia({ colorScheme: options.theme ?? "light" });
    const isWhole = /^(https?|file):/.test(path);
    const at = options.at ?? (isWhole ? new URL(path).origin : await this.address("shop"));
    this.watch.follow(page, at, options.allows ?? []);
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy broken: ${event.violatedDirective} by ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`);
      });
    });
    await page.goto(isWhole ? path : at + path, { waitUntil: "load" });
    if (options.waits !== false) await page.waitForFunction(() => (document.getElementById("app")?.childElementCount ?? 0) > 0);
    return page;
  };

  async close(): Promise<void> {
    await (await this.#context)?.close();
    for (const front of this.#fronts) await front.stop();
  }
}

/** Waits until nothing loads any more. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle", { timeout: 30000 });
  await page.waitForFunction(() => document.querySelector(".loading") === null, undefined, { timeout: 30000 });
}

/** The problems that axe-core finds and calls serious or critical, one line each. */
export async function accessibilityProblems(page: Page, ui: string): Promise<string[]> {
  await page.evaluate(readFileSync(join(ui, "node_modules/axe-core/axe.min.js"), "utf8"));
  return await page.evaluate(async () => {
    interface Found { id: string; impact: string | null; help: string; nodes: { target: unknown[]; failureSummary?: string }[] }
    const axe = (window as unknown as { axe: { run(what: Document, how: object): Promise<{ violations: Found[] }> } }).axe;
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter((one) => one.impact === "serious" || one.impact === "critical")
      .map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 4).map((node) => `${node.target.join(" ")} ${node.failureSummary ?? ""}`).join(" | ")}`);
  });
}

async function runOne(stage: Stage, test: Test): Promise<"passed" | "failed"> {
  const room = new Room(stage);
  const began = Date.now();
  let isOver = false;
  try {
    const limit = new Promise<never>((_, reject) => {
      setTimeout(() => { if (!isOver) reject(new Error("took longer than a minute")); }, 60000).unref();
    });
    await Promise.race([test.body(room), limit]);
    const { complaints } = room.watch;
    if (complaints.length > 0) throw new Error(`the browser complained:\n    ${[...new Set(complaints)].slice(0, 8).join("\n    ")}`);
    if (process.env.VERBOSE) console.log(`  ok ${test.name} (${Date.now() - began} ms)`);
    return "passed";
  } catch (error) {
    const complaints = [...new Set(room.watch.complaints)].slice(0, 5);
    console.log([`FAIL ${test.name} (${Date.now() - began} ms)`, (error as Error).message, ...complaints].join("\n  "));
    await keepPictures(stage, test, room.pages);
    return "failed";
  } finally {
    isOver = true;
    await room.close().catch(() => undefined);
  }
}

/** What the pages looked like when the test failed: build/browser/NAME.png. */
async function keepPictures(stage: Stage, test: Test, pages: readonly Page[]): Promise<void> {
  const folder = join(stage.ui, "../build/browser");
  mkdirSync(folder, { recursive: true });
  for (const [index, page] of pages.entries()) {
    const path = join(folder, `${test.name.replaceAll(/\W+/g, "-").slice(0, 80)}${index > 0 ? `-${index}` : ""}.png`);
    await page.screenshot({ path, timeout: 5000 }).then(() => console.log(`  ${path}`), () => undefined);
  }
}

export async function main(tools: Tools): Promise<number> {
  const stage = await Stage.start(tools);
  const count = { passed: 0, failed: 0 };
  const wanted = tests.filter((test) => tools.words.length === 0 || tools.words.some((word) => test.name.includes(word)));
  const next = wanted.values();
  const work = async (): Promise<void> => {
    for (const test of next) count[await runOne(stage, test)]++;
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    await stage.stop();
  }
  console.log(`${count.passed} passed, ${count.failed} failed, 0 skipped`);
  return count.failed === 0 ? 0 : 1;
}
