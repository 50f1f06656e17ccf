// SPDX-License-Identifier: Apache-2.0
// A hearth server of the tests' own: started on a free port with an empty data directory, ended with them.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** One request over connections that are kept; for many of them in a row. */
export function send(base: string, method: string, path: string, body?: Uint8Array | string, agent?: Agent, type?: string): Promise<Answer> {
  const headers = type ? { "content-type": type } : {};
  return new Promise((resolve, reject) => {
    const sent = request(base + path, { method, headers, ...(agent ? { agent } : {}) }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) }));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Without what would change the server's options. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HEARTH")));
}

export class Hearth {
  readonly url: string;
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url;
    this.folder = folder;
    this.#child = child;
  }

  static async start(
    binary: string,
    { options = [], prepare }: { options?: readonly string[]; prepare?: (dataDir: string, binary: string) => void } = {},
  ): Promise<Hearth> {
    const folder = mkdtempSync(join(tmpdir(), "hearth-data-"));
    prepare?.(join(folder, "data"), binary);
    const child = spawn(
      binary,
      ["server", "--data-dir", join(folder, "data"), "--listen", "127.0.0.1:0", "--listen-otlp-grpc", "off", "--listen-otlp-http", "off",
        "--no-self-profile", "--log-file", join(folder, "log"), ...options],
      { stdio: ["ignore", "pipe", "inherit"], env: plainEnvironment() },
    );
    const line = await new Promise<string>((resolve, reject) => {
      let said = "";
      child.stdout!.on("data", (part: Buffer) => {
        said += String(part);
        if (said.includes("\n")) resolve(said);
      });
      child.on("error", (error) => reject(new Error(`${binary} cannot be started (run make first): ${error.message}`)));
      child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${readFileSync(join(folder, "log"), "utf8")}`)));
    });
    const { listen } = JSON.parse(line) as { listen: string };
    return new Hearth(`http://${listen}`, folder, child);
  }

  /** Sends a body; anything but success throws with what the server said. */
  async post(path: string, body: Uint8Array | string, type?: string): Promise<Buffer> {
    const answer = await send(this.url, "POST", path, body, this.#agent, type);
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.body.toString().slice(0, 300)}`);
    return answer.body;
  }

  /** Sends all, eight at a time. */
  async postAll(list: Iterable<{ path: string; body: Uint8Array | string; type?: string }>): Promise<void> {
    const items = list[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (let next = items.next(); !next.done; next = items.next()) await this.post(next.value.path, next.value.body, next.value.type);
    };
    await Promise.all(Array.from({ length: 8 }, work));
  }

  async get<T>(path: string): Promise<T> {
    const answer = await send(this.url, "GET", path, undefined, this.#agent);
    if (answer.status >= 300) throw new Error(`GET ${path}: ${answer.status} ${answer.body.toString().slice(0, 300)}`);
    return JSON.parse(answer.body.toString()) as T;
  }

  async hasPage(): Promise<boolean> {
    const answer = await send(this.url, "GET", "/");
    return answer.status === 200 && String(answer.headers["content-type"]).startsWith("text/html");
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const isOver = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await isOver;
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
