// SPDX-License-Identifier: Apache-2.0
// The small parts that every view is made of.

import type { ComponentChildren, TargetedMouseEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { sentenceOf } from "../api/client.ts";
import { toast } from "./Toast.tsx";
import "./basics.css";

type ButtonProps = {
  children?: ComponentChildren;
  label?: string; // for screen readers and as a tooltip where the content is a sign
  kind?: "plain" | "main" | "quiet";
  isPressed?: boolean | undefined;
  disabled?: boolean | undefined;
  onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => void;
  title?: string | undefined;
};

/** What to tell screen readers beside `children`: the label, unless it would hide words that are to be seen. */
export function spokenLabel(label: string | undefined, children: ComponentChildren): string | undefined {
  const hasOtherWords = typeof children === "string" && /\p{L}{2}/u.test(children) && !label?.includes(children);
  return hasOtherWords ? undefined : label;
}

export function Button({ children, label, kind = "plain", isPressed, disabled, onClick, title }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind}`}
      aria-label={spokenLabel(label, children)}
      title={title ?? label}
      aria-pressed={isPressed}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

/** Puts `text` on the clipboard and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied.`);
  } catch {
    /* pages without TLS have no clipboard: the old way */
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    toast(isDone ? `${what} copied.` : `${what} could not be copied: the browser does not allow it here.`);
  }
}

/** A command or an address to be copied. */
export function CopyLine({ text }: { text: string }) {
  return (
    <div class="copy-line">
      <pre tabIndex={0}>{text}</pre>
      <Button kind="quiet" label="Copy" onClick={() => void copyText(text, "It is")}>Copy</Button>
    </div>
  );
}

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}…
    </div>
  );
}

/** The server's own sentence, and a way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  return (
    <div class="failure" role="alert">
      <p>{sentenceOf(error)}</p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** Nothing to show: says why, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A choice of few, like buttons side by side. */
export function Segmented<T extends string>({ label, value, choices, onChange }: {
  label: string;
  value: T;
  choices: readonly { value: T; text: string; title?: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button type="button" key={choice.value} aria-pressed={choice.value === value} title={choice.title} onClick={() => onChange(choice.value)}>
          {choice.text}
        </button>
      ))}
    </div>
  );
}

/** A native <dialog>: modal, closed by Escape or a click beside it. */
export function Dialog({ title, onClose, children, isWide = false }: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  isWide?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current!;
    if (!dialog.open) dialog.showModal(); /* before anybody presses Escape */
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={isWide ? "dialog wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        if (ref.current) onClose(); /* Escape may close it without asking, where nobody has clicked yet */
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <header>
        <h2>{title}</h2>
        <Button kind="quiet" label="Close" onClick={onClose}>✕</Button>
      </header>
      <div class="inside">{children}</div>
    </dialog>
  );
}

/** The size of an element, kept up to date; also of one that comes later, or is another one after a while. */
export function useSize<T extends HTMLElement>(): [{ current: T | null }, { width: number; height: number }] {
  const ref = useRef<T>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const observer = useRef<{ element: T; watch: ResizeObserver } | null>(null);
  useEffect(() => {
    const element = ref.current;
    if (observer.current?.element === element) return;
    observer.current?.watch.disconnect();
    observer.current = null;
    if (!element) return;
    const watch = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    watch.observe(element);
    observer.current = { element, watch };
  });
  useEffect(() => () => observer.current?.watch.disconnect(), []);
  return [ref, size];
}
