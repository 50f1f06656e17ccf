// SPDX-License-Identifier: Apache-2.0
// Views that come in scripts of their own, when somebody first goes there.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Loading } from "./basics.tsx";

const waiting: (() => Promise<unknown>)[] = [];

/** Loads all that may be wanted later, one after the other, so that it is there at once, and when the server is not. */
export async function loadTheRest(): Promise<void> {
  for (const load of waiting.splice(0)) await load().catch(() => undefined); /* whoever goes there is told */
}

/** A component that is loaded when it is first shown. What was loaded stays; what failed can be tried again. */
export function later(load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | null = null;
  waiting.push(load);
  return function Later() {
    const [, setCount] = useState(0);
    const [error, setError] = useState<unknown>(undefined);
    const [attempt, setAttempt] = useState(0);
    useEffect(() => {
      if (loaded) return;
      let isGone = false;
      setError(undefined);
      load().then(
        (component) => {
          loaded = component;
          if (!isGone) setCount((n) => n + 1);
        },
        () => {
          if (!isGone) setError(new Error("This part of the page cannot be loaded: the server cannot be reached, or it is of another version now. Try again, or load the page again."));
        },
      );
      return () => {
        isGone = true;
      };
    }, [attempt]);
    if (loaded) {
      const View = loaded;
      return <View />;
    }
    return error === undefined ? <Loading /> : <Failure error={error} retry={() => setAttempt((n) => n + 1)} />;
  };
}
