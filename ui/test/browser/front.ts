// SPDX-License-Identifier: Apache-2.0
// Stands between the browser and a server, so that tests can make it slow or let it vanish in the middle of an answer. It
// passes the page on as well; where the server has none (UI=0) it serves one that was built before.

import { readFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const types: Record<string, string> = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css" };
/* What src/page says. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

export interface Rule {
  path: RegExp; // of requests that it is about
  delayMs?: number;
  cutsAfter?: number; // bytes of the answer, then the connection ends
  isRefused?: boolean; // the connection ends without an answer
  answer?: { status: number; type: string; body: string | Uint8Array };
}

export class Front {
  rules: Rule[] = [];
  readonly seen: string[] = []; // paths of requests, in order
  readonly url: string;
  readonly #server: Server;
  readonly #folder: string | null;

  private constructor(server: Server, folder: string | null) {
    this.#server = server;
    this.#folder = folder;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string, folder: string | null): Promise<Front> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const front = new Front(server, folder);
    server.on("request", (incoming, outgoing) => void front.#serve(new URL(target), incoming, outgoing));
    return front;
  }

  async #serve(target: URL, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = incoming.url ?? "/";
    const path = url.split("?")[0];
    if (path.startsWith("/api/")) this.seen.push(url);
    const rule = this.rules.find((one) => one.path.test(url));
    if (rule?.delayMs) await new Promise((resolve) => setTimeout(resolve, rule.delayMs));
    if (rule?.isRefused) {
      incoming.socket.destroy();
      return;
    }
    if (rule?.answer) {
      outgoing.writeHead(rule.answer.status, { "content-type": rule.answer.type });
      outgoing.end(rule.answer.body);
      return;
    }
    if (this.#folder && incoming.method === "GET" && (path.startsWith("/assets/") || /^\/($|explore|traces|compare|status|adhoc)/.test(path))) {
      const file = path.startsWith("/assets/") ? path : "index.html";
      outgoing.writeHead(200, { "content-type": types[extname(file)], "content-security-policy": policy });
      outgoing.end(readFileSync(join(this.#folder, file)));
      return;
    }
    this.#pass(target, incoming, outgoing, rule?.cutsAfter);
  }

  #pass(target: URL, incoming: IncomingMessage, outgoing: ServerResponse, cutsAfter: number | undefined): void {
    const headers = { ...incoming.headers, host: target.host };
    if (headers.origin) headers.origin = target.origin;
    const passed = request({ host: target.hostname, port: target.port, path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      if (cutsAfter === undefined) {
        answer.pipe(outgoing);
        return;
      }
      let nSent = 0;
      answer.on("data", (part: Buffer) => {
        outgoing.write(part.subarray(0, Math.max(0, cutsAfter - nSent)));
        nSent += part.length;
        if (nSent >= cutsAfter) setTimeout(() => outgoing.destroy(), 50);
      });
      answer.on("end", () => outgoing.destroy());
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections?.();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
