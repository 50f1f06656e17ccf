// SPDX-License-Identifier: Apache-2.0
// Explore without a query: goes on with the busiest service, or says what to do where there is none.

import { useEffect } from "preact/hooks";
import { forgetCensus, getDatedTypes, getServices, getTypes } from "../../api/census.ts";
import { getSeries } from "../../api/series.ts";
import { Button, Empty, Failure, Loading } from "../../components/basics.tsx";
import { FirstRun, SELF_SERVICE } from "../../components/FirstRun.tsx";
import { formatAgo, formatTime } from "../../lib/format.ts";
import { printQuery, withTarget } from "../../lib/query.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate } from "../../lib/route.ts";
import { kindOf } from "../../lib/series.ts";
import { zone } from "../../lib/theme.ts";
import { resolveTime, type TimeRange } from "../../lib/time.ts";
import { setMoments } from "./state.ts";

/** The service that used most CPU time in the range, else the one with the most series; "" if there is none. The server's own
 * profiles are of interest only where there is nothing else. */
async function busiest(range: TimeRange, signal: AbortSignal): Promise<string> {
  const [services, types] = await Promise.all([getServices(range), getTypes("", range)]);
  const others = services.filter((one) => one.value !== SELF_SERVICE);
  const most = others.reduce((best, one) => ((one.series ?? 0) > (best.series ?? 0) ? one : best), others[0]);
  if (
    others.length > 1 &&
    kindOf(
      "",
      types.map((one) => one.type),
    ) === "cores"
  ) {
    const now = Date.now();
    const length = Math.max(1000, resolveTime(range.until, now) - resolveTime(range.from, now));
    const series = await getSeries(
      {
        query: "{}",
        type: "cpu",
        by: "service_name",
        top: 2,
        step: `${Math.ceil(length / 1000)}s`,
        from: range.from,
        until: range.until,
      },
      signal,
    );
    const found = series.groups.map((group) => group.labels.service_name).find((name) => name && name !== SELF_SERVICE);
    if (found) return found;
  }
  return most?.value ?? services[0]?.value ?? "";
}

function NoServices({ onArrived }: { onArrived: () => void }) {
  const dated = useResource("dated|", (signal) => getDatedTypes("", signal));
  const lastMs = (dated.value ?? []).reduce((last, one) => Math.max(last, one.lastMs), 0);
  if (dated.error) return <Failure error={dated.error} retry={dated.retry} />;
  if (dated.isLoading) return <Loading what="Looking for profiles" />;
  if (lastMs > 0) {
    return (
      <Empty title="There are no profiles in this time">
        <div class="row">
          <p>
            The newest one is from {formatTime(lastMs, zone.value)}, {formatAgo(lastMs, Date.now())}.
          </p>
          <Button kind="main" onClick={() => setMoments(lastMs + 1000 - 3600e3, lastMs + 1000)}>
            Show that time
          </Button>
        </div>
      </Empty>
    );
  }
  return <FirstRun onArrived={onArrived} />;
}

export function Start({ range }: { range: TimeRange }) {
  const found = useResource(`busiest|${range.from}|${range.until}`, (signal) => busiest(range, signal));
  useEffect(() => {
    if (!found.value || found.isStale) return;
    navigate(
      { params: { query: printQuery(withTarget({ front: "", conditions: [] }, { service: found.value, type: "" })) } },
      "replace",
    );
  }, [found.value]);
  if (found.error) return <Failure error={found.error} retry={found.retry} />;
  const lookAgain = () => {
    forgetCensus();
    found.retry();
  };
  return found.value === "" && !found.isLoading ? (
    <NoServices onArrived={lookAgain} />
  ) : (
    <Loading what="Looking for the busiest service" />
  );
}
