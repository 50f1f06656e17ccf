// SPDX-License-Identifier: Apache-2.0
// Views that come in scripts of their own, when somebody first goes there.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Loading } from "./basics.tsx";

/** A component that is loaded when it is first shown. What was loaded stays; what failed can be tried again. */
export function later(load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | null = null;
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
          if (!isGone) setError(new Error("This part of the page cannot be loaded. If the server has just been replaced by another version, load the page again."));
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
