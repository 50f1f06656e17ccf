// SPDX-License-Identifier: Apache-2.0
// What the list of uploads and a single one have in common: choosing files, seeing them go, and taking one away.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { forgetFile, type AdhocFile } from "../../api/adhoc.ts";
import { Button, Dialog, Failure } from "../../components/basics.tsx";
import { toast } from "../../components/Toast.tsx";
import { formatBytes, formatShare, formatTime } from "../../lib/format.ts";
import { zone } from "../../lib/theme.ts";
import { cancelUpload, sendFiles, upload, uploadError } from "./uploads.ts";

/** A button that lets people choose files. */
export function FileButton({ children, before, isMany = false }: { children: ComponentChildren; before?: string; isMany?: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button kind={before ? "plain" : "main"} onClick={() => input.current?.click()}>{children}</Button>
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-hidden="true"
        multiple={isMany}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = ""; /* the same file may be chosen again */
          void sendFiles(files, before);
        }}
      />
    </>
  );
}

/** How far an upload got, or why it failed. */
export function UploadState() {
  const now = upload.value;
  const error = uploadError.value;
  if (now) {
    const isSent = now.share >= 1;
    const which = now.of > 1 ? ` (file ${now.nth} of ${now.of})` : "";
    return (
      <div class="card upload-state" role="status">
        <p class="clip">{isSent ? `The server reads ${now.name}${which}.` : `Sending ${now.name}, ${formatBytes(now.bytes)}${which}: ${formatShare(now.share)}`}</p>
        <progress aria-label={`Sending ${now.name}`} max={1} {...(isSent ? {} : { value: now.share })} />
        <Button onClick={cancelUpload}>Cancel</Button>
      </div>
    );
  }
  return error === null ? null : (
    <div class="upload-failure">
      <Failure error={error} />
      <Button kind="quiet" label="Take this message away" onClick={() => (uploadError.value = null)}>✕</Button>
    </div>
  );
}

/** When something is to be read as a moment: the server's text in the zone that was chosen. */
export function timeText(iso: string): string {
  return formatTime(Date.parse(iso), zone.value, false);
}

/** Asks before an upload is deleted, and deletes it. */
export function DeleteDialog({ file, onClose, onDeleted }: { file: AdhocFile; onClose: () => void; onDeleted: () => void }) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const forget = async () => {
    setIsBusy(true);
    try {
      await forgetFile(file.id);
      toast(`${file.name} is deleted.`);
      onDeleted();
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  return (
    <Dialog title="Delete this upload?" onClose={onClose}>
      <div class="stack">
        <p>{file.name} is deleted from the server. Links to it stop working.</p>
        {error !== null && <Failure error={error} />}
        <div class="row">
          <Button kind="main" disabled={isBusy} onClick={() => void forget()}>Delete it</Button>
          <Button onClick={onClose}>Keep it</Button>
        </div>
      </div>
    </Dialog>
  );
}
