// SPDX-License-Identifier: Apache-2.0
// The page without building hearth again: serves build/ui, made anew from the sources at each load of the page, and passes
// everything else on to a running server.
//
//   node dev.mjs [PORT] [SERVER]      5173 and http://127.0.0.1:4040 unless given

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, "../build/ui-dev");
const port = Number(process.argv[2] ?? 5173);
const server = new URL(process.argv[3] ?? "http://127.0.0.1:4040");
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css" };
/* The same as src/page/page.c says. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
  "base-uri 'self'; form-action 'none'; frame-ancestors 'none'";
const isView = (path) => /^\/(explore|traces|compare|status|adhoc)?(\/.*)?$/.test(path) && !path.startsWith("/assets/");

createServer(async (incoming, outgoing) => {
  const path = new URL(incoming.url, "http://page").pathname;
  try {
    if (incoming.method === "GET" && (isView(path) || path.startsWith("/assets/"))) {
      if (isView(path)) await promisify(execFile)("node", [join(here, "build.mjs"), folder]);
      const file = isView(path) ? "index.html" : path;
      const content = await readFile(join(folder, file));
      outgoing.writeHead(200, { "content-type": types[extname(file)], "content-security-policy": policy, "cache-control": "no-store" });
      outgoing.end(content);
      return;
    }
  } catch (error) {
    outgoing.writeHead(500, { "content-type": "text/plain" });
    outgoing.end(String(error.stderr ?? error.message));
    return;
  }
  const passed = request(
    { host: server.hostname, port: server.port, path: incoming.url, method: incoming.method, headers: { ...incoming.headers, host: server.host, origin: server.origin } },
    (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    },
  );
  passed.on("error", (error) => {
    outgoing.writeHead(502, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ code: "unavailable", message: `no server at ${server.origin}: ${error.message}` }));
  });
  incoming.pipe(passed);
}).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}, passing on to ${server.origin}`));
