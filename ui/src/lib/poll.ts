// SPDX-License-Identifier: Apache-2.0
// A clock for views that refresh by themselves: it stands still while nobody looks at the page.

import { useEffect, useState } from "preact/hooks";

/** A number that grows every `everyMs` while the page is visible, and at once when it becomes visible after a longer time;
 * null stops it. */
export function usePoll(everyMs: number | null): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (everyMs === null) return;
    let last = Date.now();
    const tick = () => {
      if (document.hidden || Date.now() - last < everyMs * 0.9) return;
      last = Date.now();
      setCount((n) => n + 1);
    };
    const timer = setInterval(tick, everyMs);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [everyMs]);
  return count;
}
