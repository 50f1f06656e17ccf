// SPDX-License-Identifier: Apache-2.0
// A field whose text is state of the URL, and costs a question to the server: it is taken over when somebody pauses.

import { useEffect, useRef, useState } from "preact/hooks";

const PAUSE_MS = 250;

/** The text of the field and what to do with each change of it. `value` is the state; `commit` sets it, a moment after the
 * last key. A state that changes by other means (the back button) wins. */
export function useTyped(value: string, commit: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const timer = useRef(0);
  useEffect(() => {
    clearTimeout(timer.current);
    setText(value);
    return () => clearTimeout(timer.current);
  }, [value]);
  return [
    text,
    (next) => {
      setText(next);
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => commit(next), PAUSE_MS);
    },
  ];
}
