// SPDX-License-Identifier: Apache-2.0
// The self-contained file that `hearth convert x out.html` writes: one flame graph, no server. The profile is in
// <script id="profile"> as base64 of the flame format, or of gzip of it.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "./style/tokens.css";
import "./style/base.css";
import "./components/Shell.css";
import "./style/offline.css";
import { Failure, Loading } from "./components/basics.tsx";
import { Brand, KeysButton, SettingsButton } from "./components/Tools.tsx";
import { ProfilePanel, type ProfileSource } from "./components/panel/ProfilePanel.tsx";
import { Toasts } from "./components/Toast.tsx";
import { decodeFlame } from "./flame/decode.ts";
import type { FlameTree } from "./flame/tree.ts";
import { listenForKeys } from "./lib/keys.ts";
import { followHistory } from "./lib/route.ts";

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

/** The profile that is in this file. Throws whatever is wrong with it. */
async function readProfile(): Promise<FlameTree> {
  const text = document.getElementById("profile")?.textContent?.trim() ?? "";
  if (text === "") throw new Error("it is not there");
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return decodeFlame(isPacked ? await inflate(bytes) : bytes);
}

function damaged(error: unknown): Error {
  const why = error instanceof Error && error.message ? ` (${error.message.replace(/\.$/, "")})` : "";
  return new Error(`The profile in this file is damaged${why}. Write the file again with hearth convert.`);
}

function Offline() {
  const [tree, setTree] = useState<FlameTree | null>(null);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    readProfile().then(setTree, (why: unknown) => setError(damaged(why)));
  }, []);
  const title = document.title || "A profile";
  const source: ProfileSource = { kind: "offline", title };
  return (
    <>
      <header class="shell-head offline-head">
        <Brand />
        <h1 class="clip">{title}</h1>
        <div class="shell-tools">
          <SettingsButton hasTimes={false} />
          <KeysButton />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <div class="view">
          {error ? <Failure error={error} /> : tree ? <ProfilePanel tree={tree} source={source} /> : <Loading />}
        </div>
      </main>
      <Toasts />
    </>
  );
}

followHistory();
listenForKeys();
render(<Offline />, document.getElementById("app")!);
