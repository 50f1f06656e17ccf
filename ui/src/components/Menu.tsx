// SPDX-License-Identifier: Apache-2.0
// A menu at a point or below a button: arrows walk, Enter chooses, Escape or a click elsewhere closes, first letters jump.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { spokenLabel } from "./basics.tsx";
import "./Menu.css";

export interface MenuItem {
  text: string;
  hint?: string; // a key, or what it would act on
  isChecked?: boolean; // with a mark in front
  isOff?: boolean;
  run?: () => void;
  href?: string; // a link instead of `run`
  download?: string;
}
export type MenuEntry = MenuItem | "line" | { heading: string };

function isItem(entry: MenuEntry): entry is MenuItem {
  return entry !== "line" && !("heading" in entry);
}

export function Menu({ label, entries, x, y, onClose }: {
  label: string;
  entries: readonly MenuEntry[];
  x: number; // of the viewport
  y: number;
  onClose: () => void;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const before = useRef(document.activeElement);
  const [place, setPlace] = useState({ x, y });

  useLayoutEffect(() => {
    const box = ref.current!.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement; /* without scroll bars */
    setPlace({ x: Math.max(4, Math.min(x, clientWidth - box.width - 4)), y: Math.max(4, Math.min(y, clientHeight - box.height - 4)) });
    ref.current!.querySelector<HTMLElement>("[role^=menuitem]:not([aria-disabled])")?.focus();
  }, [x, y]);
  useEffect(() => {
    const closeOutside = (event: Event) => {
      if (!ref.current?.contains(event.target as Node)) onClose();
    };
    addEventListener("pointerdown", closeOutside, true);
    addEventListener("blur", onClose);
    return () => {
      removeEventListener("pointerdown", closeOutside, true);
      removeEventListener("blur", onClose);
    };
  }, [onClose]);

  const close = () => {
    onClose();
    if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const items = [...ref.current!.querySelectorAll<HTMLElement>("[role^=menuitem]:not([aria-disabled])")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const go = (index: number) => items[(index + items.length) % items.length]?.focus();
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowUp") go(at - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(items.length - 1);
    else if (event.key.length === 1 && event.key !== " ") {
      const key = event.key.toLowerCase();
      const order = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      order.find((item) => item.textContent?.trim().toLowerCase().startsWith(key))?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div ref={ref} class="menu" role="menu" aria-label={label} style={{ left: `${place.x}px`, top: `${place.y}px` }} onKeyDown={onKeyDown}>
      {entries.map((entry, index) => {
        if (entry === "line") return <hr key={index} role="separator" />;
        if (!isItem(entry)) return <div key={index} class="menu-heading clip" role="presentation">{entry.heading}</div>;
        const content = (
          <>
            <span class="menu-check" aria-hidden="true">{entry.isChecked ? "✓" : ""}</span>
            <span class="menu-text">{entry.text}</span>
            {entry.hint && <span class="menu-hint clip">{entry.hint}</span>}
          </>
        );
        const role = entry.isChecked === undefined ? "menuitem" : "menuitemcheckbox";
        if (entry.href !== undefined && !entry.isOff) {
          return (
            <a key={index} role={role} tabIndex={-1} href={entry.href} download={entry.download} onClick={close}>{content}</a>
          );
        }
        return (
          <button
            key={index}
            type="button"
            role={role}
            tabIndex={-1}
            aria-checked={entry.isChecked}
            aria-disabled={entry.isOff ? true : undefined}
            onClick={() => {
              if (entry.isOff) return;
              close();
              entry.run?.();
            }}
          >
            {content}
          </button>
        );
      })}
    </div>
  );
}

/** A button that opens a menu below itself. */
export function MenuButton({ label, entries, children, kind = "plain" }: {
  label: string;
  entries: () => readonly MenuEntry[];
  children: ComponentChildren;
  kind?: "plain" | "quiet";
}) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  return (
    <>
      <button
        type="button"
        class={`button ${kind}`}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        aria-label={spokenLabel(label, children)}
        title={label}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setAt({ x: box.left, y: box.bottom + 2 });
        }}
      >
        {children}
      </button>
      {at && <Menu label={label} entries={entries()} x={at.x} y={at.y} onClose={() => setAt(null)} />}
    </>
  );
}
