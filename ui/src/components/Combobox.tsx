// SPDX-License-Identifier: Apache-2.0
// A field with a list of what may be chosen, after the combobox pattern of WAI-ARIA: typing narrows the list, arrows walk it,
// Enter takes, Escape closes. Only the rows in sight are in the document, so ten thousand choices are fine.

import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import "./Combobox.css";

export interface Choice {
  value: string;
  text?: string; // shown instead of the value
  hint?: string; // at the right: a number of series, a unit
}

const rowHeight = 30;
const nRows = 9;

/** Choices with `typed` in them, those that begin with it first. */
export function narrowed(choices: readonly Choice[], typed: string): readonly Choice[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return choices;
  const begins: Choice[] = [];
  const contains: Choice[] = [];
  for (const choice of choices) {
    const at = (choice.text ?? choice.value).toLowerCase().indexOf(wanted);
    if (at === 0) begins.push(choice);
    else if (at > 0) contains.push(choice);
  }
  return begins.concat(contains);
}

/** The list below a field; the field keeps the focus. Rows are told apart by `${id}-${index}` for aria-activedescendant. */
export function ChoiceList({
  id,
  label,
  choices,
  active,
  isLoading = false,
  note,
  onPick,
}: {
  id: string;
  label: string;
  choices: readonly Choice[];
  active: number; // -1: none
  isLoading?: boolean;
  note?: string | undefined; // said where there is nothing to choose
  onPick: (choice: Choice) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [shift, setShift] = useState(0);
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - 4);
  const end = Math.min(choices.length, first + nRows + 9);

  useLayoutEffect(() => {
    const box = scroller.current!.parentElement!.getBoundingClientRect();
    setShift(Math.min(0, innerWidth - 8 - (box.right - shift)));
  }, [choices.length > 0]);
  useLayoutEffect(() => {
    const element = scroller.current!;
    const top = active * rowHeight;
    if (active < 0) element.scrollTop = 0;
    else if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
    setScrollTop(element.scrollTop);
  }, [active, choices]);

  return (
    <div
      class="choices"
      style={{ transform: `translateX(${shift}px)` }}
      onPointerDown={(event) => event.preventDefault()}
    >
      <div
        ref={scroller}
        class="choices-scroll"
        id={id}
        role="listbox"
        aria-label={label}
        tabIndex={-1}
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      >
        <div class="choices-body" role="presentation" style={{ height: `${choices.length * rowHeight}px` }}>
          {choices.slice(first, end).map((choice, offset) => {
            const index = first + offset;
            return (
              <div
                key={choice.value}
                id={`${id}-${index}`}
                class="choice"
                role="option"
                aria-selected={index === active}
                aria-setsize={choices.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${index * rowHeight}px)` }}
                title={choice.text ?? choice.value}
                onClick={() => onPick(choice)}
              >
                <bdi class="clip">{choice.text ?? choice.value}</bdi>
                {choice.hint && <span class="choice-hint">{choice.hint}</span>}
              </div>
            );
          })}
        </div>
      </div>
      {choices.length === 0 && (
        <p class="choices-note muted" role="status">
          {isLoading ? "Loading…" : (note ?? "There is nothing to choose.")}
        </p>
      )}
    </div>
  );
}

/** Where an arrow key leads to in a list; null for other keys. */
export function stepInList(key: string, active: number, n: number): number | null {
  if (n === 0) return null;
  switch (key) {
    case "ArrowDown":
      return (active + 1) % n;
    case "ArrowUp":
      return active <= 0 ? n - 1 : active - 1;
    case "PageDown":
      return Math.min(n - 1, Math.max(0, active) + nRows);
    case "PageUp":
      return Math.max(0, active - nRows);
    default:
      return null;
  }
}

export function Combobox({
  label,
  value,
  shown,
  choices,
  isLoading,
  note,
  placeholder,
  isFree = false,
  isFocused = false,
  onChange,
  onOpen,
}: {
  label: string;
  value: string;
  shown?: string; // of the value, where it is told in other words
  choices: readonly Choice[];
  isLoading?: boolean;
  note?: string | undefined;
  placeholder?: string;
  isFree?: boolean; // what was typed counts even if it is not in the list
  isFocused?: boolean; // takes the focus when it comes on screen
  onChange: (value: string) => void;
  onOpen?: () => void;
}) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string | null>(null); // null: closed
  const [isNarrowing, setIsNarrowing] = useState(false);
  const [active, setActive] = useState(-1);
  const list = useMemo(
    () => (isNarrowing && typed !== null ? narrowed(choices, typed) : choices),
    [choices, typed, isNarrowing],
  );
  const isOpen = typed !== null;
  const text = shown ?? value;

  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, []);

  const open = () => {
    if (isOpen) return;
    onOpen?.();
    setTyped(text);
    setIsNarrowing(false);
    setActive(choices.findIndex((choice) => choice.value === value));
  };
  const close = () => {
    setTyped(null);
    setActive(-1);
  };
  const take = (next: string) => {
    close();
    if (next !== value) onChange(next);
  };
  const takeTyped = () => {
    if (typed === null) return;
    const exact = choices.find((choice) => (choice.text ?? choice.value) === typed);
    if (exact) take(exact.value);
    else if (isFree && isNarrowing) take(typed);
    else close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = stepInList(event.key, active, list.length);
    if (event.key === "Escape" && isOpen) close();
    else if (event.key === "Enter" && isOpen) {
      if (active >= 0 && list[active]) take(list[active].value);
      else if (!isFree && isNarrowing && list.length > 0) take(list[0].value);
      else takeTyped();
    } else if (event.key === "ArrowDown" && !isOpen) open();
    else if (step !== null && isOpen) setActive(step);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <span class="combobox">
      <input
        ref={field}
        class="field"
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && active >= 0 ? `${id}-${active}` : undefined}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder={placeholder}
        value={typed ?? text}
        title={text}
        onFocus={(event) => {
          event.currentTarget.select();
        }}
        onClick={open}
        onInput={(event) => {
          if (!isOpen) onOpen?.();
          setTyped(event.currentTarget.value);
          setIsNarrowing(true);
          setActive(-1);
        }}
        onKeyDown={onKeyDown}
        onBlur={takeTyped}
      />
      <span class="combobox-sign" aria-hidden="true">
        ▾
      </span>
      {isOpen && (
        <ChoiceList
          id={id}
          label={label}
          choices={list}
          active={active}
          isLoading={isLoading ?? false}
          note={isNarrowing && choices.length > 0 ? "Nothing has this in its name." : note}
          onPick={(choice) => take(choice.value)}
        />
      )}
    </span>
  );
}
