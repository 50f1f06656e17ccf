// SPDX-License-Identifier: Apache-2.0
// Files on their way to the server. One is shown when it has arrived; two are compared, the first as what was before.

import { signal } from "@preact/signals";
import { uploadFile } from "../../api/adhoc.ts";
import { isCancelled } from "../../api/client.ts";
import { navigate } from "../../lib/route.ts";

export interface Upload {
  name: string;
  bytes: number;
  share: number; // of the bytes that have gone out
  nth: number; // of how many files
  of: number;
}

export const upload = signal<Upload | null>(null);
export const uploadError = signal<unknown>(null);
let controller: AbortController | null = null;

export function cancelUpload(): void {
  controller?.abort();
}

/** Sends `files` one after the other, then shows them; with `before`, that upload is compared with the first of them. */
export async function sendFiles(files: readonly File[], before = ""): Promise<void> {
  if (files.length === 0) return;
  controller?.abort();
  const mine = new AbortController();
  controller = mine;
  uploadError.value = null;
  const ids: string[] = before ? [before] : [];
  try {
    for (const [index, file] of files.entries()) {
      const shown = { name: file.name, bytes: file.size, share: 0, nth: index + 1, of: files.length };
      upload.value = shown;
      const { id } = await uploadFile(file, mine.signal, (share) => {
        if (controller === mine) upload.value = { ...shown, share };
      });
      ids.push(id);
    }
    if (controller === mine) show(ids);
  } catch (error) {
    if (controller === mine && !isCancelled(error)) uploadError.value = error;
  } finally {
    if (controller === mine) upload.value = null;
  }
}

function show(ids: readonly string[]): void {
  if (ids.length === 1) navigate({ view: "adhoc", rest: ids[0] });
  else if (ids.length === 2) navigate({ view: "adhoc", rest: ids[0], params: { against: ids[1] } });
  else navigate({ view: "adhoc" });
}
