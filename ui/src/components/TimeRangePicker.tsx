// SPDX-License-Identifier: Apache-2.0
// A range of time: quick ones, own times, steps back and forth, zooming out, and pinning what is relative.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { zone } from "../lib/theme.ts";
import {
  complaintOf,
  isRelative,
  pinned,
  quickRanges,
  resolveTime,
  stepped,
  unpinned,
  zoomedOut,
  type TimeRange,
} from "../lib/time.ts";
import { fromField, nameOfRange, toField } from "../lib/timetext.ts";
import { Button, Segmented } from "./basics.tsx";
import "./TimeRangePicker.css";

/** One end: a field with a calendar, and the text, which may be relative. */
function EndField({ label, text, onChange }: { label: string; text: string; onChange: (text: string) => void }) {
  return (
    <fieldset class="time-end">
      <legend>{label}</legend>
      <input
        class="field"
        type="datetime-local"
        step={1}
        aria-label={`${label}: date and time`}
        value={toField(resolveTime(text, Date.now()), zone.value)}
        onChange={(event) => {
          const ms = fromField(event.currentTarget.value, zone.peek());
          if (!Number.isNaN(ms)) onChange(String(ms));
        }}
      />
      <input
        class="field mono"
        aria-label={`${label}: as text`}
        value={text}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </fieldset>
  );
}

/** Times are kept as milliseconds, whatever way they were written; relative ones stay relative. */
function settled(text: string): string {
  return isRelative(text) ? text : String(Math.round(resolveTime(text, Date.now())));
}

function Panel({
  id,
  label,
  range,
  onChange,
  onClose,
}: {
  id: string;
  label: string;
  range: TimeRange;
  onChange: (range: TimeRange) => void;
  onClose: () => void;
}) {
  const [own, setOwn] = useState(range);
  const complaint = complaintOf(own, Date.now());
  const take = (next: TimeRange) => {
    onChange(next);
    onClose();
  };
  return (
    <div class="time-panel" id={id} role="dialog" aria-label={label}>
      <ul class="quick-ranges" aria-label="Quick ranges">
        {quickRanges.map((one) => (
          <li key={one.name}>
            <button
              type="button"
              aria-current={one.range.from === range.from && one.range.until === range.until ? "true" : undefined}
              onClick={() => take(one.range)}
            >
              {one.name}
            </button>
          </li>
        ))}
      </ul>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!complaint) take({ from: settled(own.from), until: settled(own.until) });
        }}
      >
        <EndField label="From" text={own.from} onChange={(from) => setOwn({ ...own, from })} />
        <EndField label="Until" text={own.until} onChange={(until) => setOwn({ ...own, until })} />
        {complaint && (
          <p class="query-error" role="alert">
            {complaint}
          </p>
        )}
        <div class="row">
          <Segmented
            label="Time zone"
            value={zone.value}
            choices={[
              { value: "local", text: "Local" },
              { value: "utc", text: "UTC" },
            ]}
            onChange={(next) => (zone.value = next)}
          />
          <span class="spread" />
          <button type="submit" class="button main" disabled={complaint !== ""}>
            Show this time
          </button>
        </div>
      </form>
    </div>
  );
}

/** `label` tells apart several pickers of a view. */
export function TimeRangePicker({
  range,
  onChange,
  label = "Time range",
}: {
  range: TimeRange;
  onChange: (range: TimeRange) => void;
  label?: string;
}) {
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const now = Date.now();
  const isUpToNow = !(resolveTime(range.until, now) < now - 1000);
  const hasRelative = isRelative(range.from) || isRelative(range.until);
  const close = () => {
    setIsOpen(false);
    opener.current?.focus();
  };

  useEffect(() => {
    if (!isOpen) return;
    root.current!.querySelector<HTMLElement>(".time-panel [aria-current], .time-panel button")?.focus();
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setIsOpen(false);
    };
    addEventListener("pointerdown", closeOutside, true);
    addEventListener("focusin", closeOutside);
    return () => {
      removeEventListener("pointerdown", closeOutside, true);
      removeEventListener("focusin", closeOutside);
    };
  }, [isOpen]);

  return (
    <div
      class="time-range"
      role="group"
      aria-label={label}
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        close();
      }}
    >
      <Button label="Earlier by the length of the range" onClick={() => onChange(stepped(range, -1, Date.now()))}>
        ←
      </Button>
      <button
        ref={opener}
        type="button"
        class="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        <span class="clip">
          {nameOfRange(range, zone.value, now)}
          {zone.value === "utc" && !isRelative(range.from) ? " UTC" : ""}
        </span>
        <span aria-hidden="true">▾</span>
      </button>
      <Button
        label="Later by the length of the range"
        disabled={isUpToNow}
        onClick={() => onChange(stepped(range, 1, Date.now()))}
      >
        →
      </Button>
      <Button label="Zoom out: twice the time" onClick={() => onChange(zoomedOut(range, Date.now()))}>
        −
      </Button>
      <Button
        label={hasRelative ? "Pin: keep these times as time goes on" : "Unpin: the same length of time, up to now"}
        isPressed={!hasRelative}
        onClick={() => onChange(hasRelative ? pinned(range, Date.now()) : unpinned(range, Date.now()))}
      >
        Pin
      </Button>
      {isOpen && <Panel id={id} label={label} range={range} onChange={onChange} onClose={close} />}
    </div>
  );
}
