// SPDX-License-Identifier: Apache-2.0
// Following now: asks again every few seconds, but not while the tab is hidden, and not before the answers to the last
// questions are there.

import { useEffect, useState } from "preact/hooks";

const everyMs = 5000;

/** Calls `refresh` a few seconds after `isWaiting` became true, which is when all answers are there; `round` tells the rounds
 * apart. */
export function useFollowing(isWaiting: boolean, round: number, refresh: () => void): void {
  const [isVisible, setIsVisible] = useState(document.visibilityState === "visible");
  useEffect(() => {
    const follow = () => setIsVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", follow);
    return () => document.removeEventListener("visibilitychange", follow);
  }, []);
  useEffect(() => {
    if (!isWaiting || !isVisible) return;
    const timer = setTimeout(refresh, everyMs);
    return () => clearTimeout(timer);
  }, [isWaiting, isVisible, round]);
}
