// SPDX-License-Identifier: Apache-2.0
// What to do where a query has no profiles in its time.

import { getDatedTypes } from "../../api/census.ts";
import { commandOf, serverUrl, type Question } from "../../api/flame.ts";
import { Button, CopyLine, Empty, Loading } from "../../components/basics.tsx";
import { formatAgo, formatTime } from "../../lib/format.ts";
import { parseQuery, printQuery, selectorOf } from "../../lib/query.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate } from "../../lib/route.ts";
import { zone } from "../../lib/theme.ts";
import { isRelative, resolveTime } from "../../lib/time.ts";
import { setMoments, setQuery, unnarrowed } from "./state.ts";

/** The newest profile of the service, and a way to it. */
function Newest({ lastMs, lengthMs }: { lastMs: number; lengthMs: number }) {
  const now = Date.now();
  return (
    <div class="row">
      <p>
        The newest profile is from {formatTime(lastMs, zone.value)}, {formatAgo(lastMs, now)}.
      </p>
      <Button kind="main" onClick={() => setMoments(lastMs + 1000 - lengthMs, lastMs + 1000)}>
        Show that time
      </Button>
    </div>
  );
}

export function Nothing({ question }: { question: Question }) {
  const parts = parseQuery(question.query);
  const { filter, spanId, traceId, profileId, operation } = question;
  const hasNarrowing = [filter, spanId, traceId, profileId, operation].some((one) => one !== "");
  const conditions = parts?.conditions.filter((one) => one.name !== "service_name") ?? [];
  const selector = parts
    ? selectorOf({ ...parts, conditions: parts.conditions.filter((one) => one.name === "service_name") })
    : "";
  const dated = useResource(`dated|${selector}`, (signal) => getDatedTypes(selector, signal));
  const lastMs = (dated.value ?? []).reduce((last, one) => Math.max(last, one.lastMs), 0);
  const now = Date.now();
  const [from, until] = [resolveTime(question.from, now), resolveTime(question.until, now)];
  const isElsewhere = lastMs > 0 && (lastMs < from || lastMs >= until);
  return (
    <Empty title="There are no profiles of this query in this time">
      {dated.isLoading && <Loading what="Looking for other times" />}
      {isElsewhere && <Newest lastMs={lastMs} lengthMs={Math.min(3600e3, until - from)} />}
      {hasNarrowing && (
        <div class="row">
          <p>The query is narrowed to single functions, spans, operations or profiles.</p>
          <Button onClick={() => navigate({ params: unnarrowed })}>Show all of it</Button>
        </div>
      )}
      {conditions.length > 0 && (
        <div class="row">
          <p>Perhaps its conditions leave nothing.</p>
          <Button
            onClick={() =>
              setQuery(
                printQuery({
                  front: parts!.front,
                  conditions: parts!.conditions.filter((one) => one.name === "service_name"),
                }),
              )
            }
          >
            Take the conditions away
          </Button>
        </div>
      )}
      {!isElsewhere && isRelative(question.until) && (
        <>
          <p>A program that sends profiles here shows up within seconds. This one is made up, to try:</p>
          <CopyLine text={`hearth demo --url ${serverUrl()}`} />
        </>
      )}
      <p>The same question in a terminal says what there is:</p>
      <CopyLine text={commandOf(question)} />
    </Empty>
  );
}
