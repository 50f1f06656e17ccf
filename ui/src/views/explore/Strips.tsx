// SPDX-License-Identifier: Apache-2.0
// What the processes of a service said of themselves, in strips below its timeline: heap, garbage collection, CPU, threads.

import { getMetrics } from "../../api/metrics.ts";
import { ApiError } from "../../api/client.ts";
import { Failure } from "../../components/basics.tsx";
import { Timeline } from "../../components/Timeline.tsx";
import { useKeys } from "../../lib/keys.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, route } from "../../lib/route.ts";
import { stripsOf, type Strip } from "../../lib/strips.ts";
import "./Strips.css";

const stripPixels = 36;

/** The points of the chart above. */
interface Grid {
  fromMs: number;
  untilMs: number;
  stepMs: number;
}

async function loadStrips(service: string, grid: Grid, signal: AbortSignal): Promise<Strip[]> {
  const { fromMs, untilMs, stepMs } = grid;
  try {
    const query = { service, from: Math.round(fromMs), until: Math.round(untilMs), step: `${stepMs / 1000}s` };
    const metrics = await getMetrics(query, signal);
    return stripsOf(metrics.series, fromMs, untilMs, metrics.stepMs || stepMs);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return []; /* nobody sent any */
    throw error;
  }
}

/** Strips with the same times as the chart above; nothing where the service has no metrics. `group` is that of the chart. */
export function Strips({
  service,
  grid,
  group,
  onRange,
}: {
  service: string;
  grid: Grid | undefined;
  group: string;
  onRange: (fromMs: number, untilMs: number) => void;
}) {
  const isShown = route.value.params.get("metrics") !== "hidden";
  const key = service && grid ? `${service}|${grid.fromMs}|${grid.untilMs}|${grid.stepMs}` : null;
  const strips = useResource(key, (signal) => loadStrips(service, grid!, signal));
  const toggle = () => navigate({ params: { metrics: isShown ? "hidden" : null } }, "replace");
  useKeys([{ keys: "m", group: "Timeline", what: "Show or hide the metrics below it", run: toggle }]);
  if (strips.error !== undefined) return <Failure error={strips.error} retry={strips.retry} />;
  const list = strips.value ?? [];
  if (list.length === 0) return null;
  return (
    <section class="strips" aria-label="Metrics">
      <button
        type="button"
        class="strips-toggle"
        aria-expanded={isShown}
        title="What the processes of this service say of themselves (m)"
        onClick={toggle}
      >
        <span aria-hidden="true">{isShown ? "▾" : "▸"}</span> Metrics{" "}
        {!isShown && <span class="muted">{list.map((strip) => strip.title).join(", ")}</span>}
      </button>
      {isShown && (
        <div class={strips.isStale ? "stale" : ""}>
          {list.map((strip) => (
            <div key={strip.id} class="strip" title={strip.metric}>
              <Timeline
                series={strip.series}
                label={`${strip.title} over time`}
                caption={strip.title}
                group={group}
                height={stripPixels}
                nShown={1}
                onRange={onRange}
              />
            </div>
          ))}
        </div>
      )}
    </section>
  );
}
