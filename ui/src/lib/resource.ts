// SPDX-License-Identifier: Apache-2.0
// Data that depends on state: asked for again when its key changes, with the request before cancelled, the old value kept on
// screen until the new one is there, and failures kept to be shown with a way to try again.

import { useEffect, useRef, useState } from "preact/hooks";
import { isCancelled } from "../api/client.ts";

export interface Resource<T> {
  value: T | undefined; // the latest that came; of the key before while `isLoading`
  error: unknown; // of the last try, undefined if it went well
  isLoading: boolean;
  isStale: boolean; // `value` is of another key than asked for
  retry: () => void;
}

interface State<T> {
  value: T | undefined;
  valueKey: string | null;
  error: unknown;
  errorKey: string | null;
}

/** Loads by `load` whenever `key` changes; null asks for nothing. `load` must give its signal on. A changed `version` loads
 * the same key again (live mode). */
export function useResource<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, version: unknown = 0): Resource<T> {
  const [state, setState] = useState<State<T>>({ value: undefined, valueKey: null, error: undefined, errorKey: null });
  const [attempt, setAttempt] = useState(0);
  const [busyKey, setBusyKey] = useState<string | null>(key);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    setBusyKey(key);
    latest.current(controller.signal).then(
      (value) => {
        if (controller.signal.aborted) return;
        setState({ value, valueKey: key, error: undefined, errorKey: null });
        setBusyKey(null);
      },
      (error: unknown) => {
        if (controller.signal.aborted || isCancelled(error)) return;
        setState((before) => ({ ...before, error, errorKey: key }));
        setBusyKey(null);
      },
    );
    return () => controller.abort();
  }, [key, attempt, version]);

  const isFailed = key !== null && state.errorKey === key;
  return {
    value: key === null ? undefined : state.value,
    error: isFailed ? state.error : undefined,
    isLoading: key !== null && (busyKey === key || (state.valueKey !== key && !isFailed)),
    isStale: state.value !== undefined && state.valueKey !== key,
    retry: () => setAttempt((n) => n + 1),
  };
}
