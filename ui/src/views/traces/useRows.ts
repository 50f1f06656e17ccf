// SPDX-License-Identifier: Apache-2.0
// Which spans of a trace are shown, opened and closed, and looked for; all of it as the URL says.

import { useMemo } from "preact/hooks";
import { navigate, route } from "../../lib/route.ts";
import { above, isClosed, parseClosing, printClosing, shownRows, SpanSearch, withClosed, type SpanTree } from "./spans.ts";

export interface Rows {
  rows: Uint32Array; // spans in the order in which they are shown
  isAllClosed: boolean;
  isClosed: (span: number) => boolean;
  setClosed: (spans: readonly number[], closed: boolean) => void;
  /** Opens what hides a span. */
  reveal: (span: number) => void;
}

export function useRows(tree: SpanTree): Rows {
  const text = route.value.params.get("closed") ?? "";
  return useMemo(() => {
    const closing = parseClosing(text);
    const closed = (span: number) => isClosed(tree, closing, span);
    const setClosed = (spans: readonly number[], close: boolean) =>
      navigate({ params: { closed: printClosing(withClosed(tree, closing, spans, close)) || null } }, "replace");
    return {
      rows: shownRows(tree, closed),
      isAllClosed: closing.isAllClosed,
      isClosed: closed,
      setClosed,
      reveal: (span) => {
        const hiding = above(tree, span).filter(closed);
        if (hiding.length > 0) setClosed(hiding, false);
      },
    };
  }, [tree, text]);
}

/** The spans that are looked for, or null when nothing is. */
export function useHits(tree: SpanTree): readonly number[] | null {
  const { params } = route.value;
  const find = (params.get("find") ?? "").trim();
  const onlyErrors = params.get("errors") === "1";
  const search = useMemo(() => new SpanSearch(tree), [tree]);
  return useMemo(() => {
    if (find === "" && !onlyErrors) return null;
    const found = find === "" ? tree.spans.map((_, i) => i) : search.find(find);
    return onlyErrors ? found.filter((i) => tree.spans[i].status === "error") : found;
  }, [search, find, onlyErrors]);
}
