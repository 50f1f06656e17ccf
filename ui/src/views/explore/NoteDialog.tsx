// SPDX-License-Identifier: Apache-2.0
// Writes an annotation: what happened, when, and to which service.

import { useState } from "preact/hooks";
import { addAnnotation } from "../../api/series.ts";
import { Dialog, Failure } from "../../components/basics.tsx";
import { toast } from "../../components/Toast.tsx";
import { zone } from "../../lib/theme.ts";
import { fromField, toField } from "../../lib/timetext.ts";

export function NoteDialog({
  timeMs,
  service,
  onClose,
  onDone,
}: {
  timeMs: number;
  service: string;
  onClose: () => void;
  onDone: () => void;
}) {
  const [text, setText] = useState("");
  const [time, setTime] = useState(toField(timeMs, zone.peek()));
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setIsBusy] = useState(false);
  const moment = fromField(time, zone.value);
  const isReady = text.trim() !== "" && !Number.isNaN(moment) && !isBusy;

  const save = async () => {
    setIsBusy(true);
    try {
      await addAnnotation(moment, text.trim(), service ? { service_name: service } : {});
      toast("The note is kept.");
      onDone();
      onClose();
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  return (
    <Dialog title="Note what happened" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void save();
        }}
      >
        <label class="stack note-field">
          <span>What happened{service ? ` to ${service}` : ""}</span>
          <input
            class="field"
            value={text}
            maxLength={1000}
            autofocus
            placeholder="Deployed 1.2.3"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label class="stack note-field">
          <span>When, in {zone.value === "utc" ? "UTC" : "the zone of this browser"}</span>
          <input
            class="field"
            type="datetime-local"
            step={1}
            value={time}
            onInput={(event) => setTime(event.currentTarget.value)}
          />
        </label>
        {error !== undefined && <Failure error={error} />}
        <div class="row">
          <button type="submit" class="button main" disabled={!isReady}>
            Keep the note
          </button>
        </div>
      </form>
    </Dialog>
  );
}
