// SPDX-License-Identifier: Apache-2.0
// Before anything is chosen: what is worth comparing here, which is two versions of a service that both ran, and a service with
// itself an hour ago.

import { getSeries, type Series } from "../../api/series.ts";
import { SELF_SERVICE } from "../../components/FirstRun.tsx";
import { shortened } from "../../lib/format.ts";
import { printQuery, withTarget } from "../../lib/query.ts";
import { useResource } from "../../lib/resource.ts";
import { urlOf } from "../../lib/route.ts";
import { resolveTime, type TimeRange } from "../../lib/time.ts";
import { slowFastUrl } from "./slowFast.ts";
import { compareParams, withValues, type CompareState } from "./state.ts";
import { inOrder } from "./Values.tsx";

const VERSION = "service_version";
const MAX_ASKED = 60;
const MAX_SHOWN = 5;

/** Services with their versions, those that use most first. The server itself comes last: others are of more interest. */
export function versionsOf(groups: Series["groups"]): { service: string; versions: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { labels } of groups) {
    const service = labels.service_name;
    if (!service) continue;
    const versions = found.get(service) ?? [];
    if (labels[VERSION]) versions.push(labels[VERSION]);
    found.set(service, versions);
  }
  const all = [...found].map(([service, versions]) => ({ service, versions: inOrder(versions) }));
  return [...all.filter((one) => one.service !== SELF_SERVICE), ...all.filter((one) => one.service === SELF_SERVICE)];
}

async function getVersions(range: TimeRange, signal: AbortSignal): Promise<{ service: string; versions: string[] }[]> {
  const now = Date.now();
  const length = Math.max(1000, resolveTime(range.until, now) - resolveTime(range.from, now));
  const step = `${Math.ceil(length / 1000)}s`;
  const { groups } = await getSeries({ query: "{}", type: "cpu", by: `service_name,${VERSION}`, top: MAX_ASKED, step, from: range.from, until: range.until }, signal);
  return versionsOf(groups);
}

/** Nothing where nothing is found or asking fails: these are suggestions, and everything can be chosen without them. */
export function Suggestions({ state }: { state: CompareState }) {
  const { range } = state.after;
  const found = useResource(`compare-versions ${range.from} ${range.until}`, (signal) => getVersions(range, signal));
  const services = (found.value ?? []).slice(0, MAX_SHOWN);
  if (services.length === 0) return null;
  return (
    <>
      <p>Or begin with one of these:</p>
      <ul class="compare-suggestions" aria-label="Suggestions">
        {services.map(({ service, versions }) => {
          const query = printQuery(withTarget({ front: "", conditions: [] }, { service, type: "" }, []));
          const [before, after] = versions.slice(-2);
          const chosen = { ...state, after: { query, range } };
          return (
            <li key={service} class="row">
              <bdi class="clip">{shortened(service, 60)}</bdi>
              {after !== undefined && <a href={urlOf("compare", compareParams(withValues(chosen, VERSION, before, after)))}>Version {shortened(before, 20)} against {shortened(after, 20)}</a>}
              <a href={urlOf("compare", { query })}>With an hour before</a>
              <a href={slowFastUrl({ query, range })}>Slow against fast</a>
            </li>
          );
        })}
      </ul>
    </>
  );
}
