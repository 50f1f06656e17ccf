// SPDX-License-Identifier: Apache-2.0
// Why nothing was found, and what to do: another time, fewer conditions, or a sender to begin with.

import { getStatus } from "../../api/status.ts";
import { findTraces, nothingFound } from "../../api/traces.ts";
import { Button, CopyLine, Empty, Loading } from "../../components/basics.tsx";
import { endpointOf } from "../../components/FirstRun.tsx";
import { formatTime } from "../../lib/format.ts";
import { useResource } from "../../lib/resource.ts";
import { zone } from "../../lib/theme.ts";
import { changeSearch, type SearchState } from "./state.ts";

const everything: SearchState = {
  service: "", operation: "", min: "", max: "", isError: false, attributes: [], query: "", function: "", from: "now-30d", until: "now", order: "newest", nRows: 1,
};
const unnarrowed = { service: null, operation: null, min: null, max: null, errors: null, attributes: null, query: null, function: null };

/** Lines for a shell that make any program with OpenTelemetry send its traces here. */
export function senderLines(page: URL, listeners: readonly { name: string; address: string }[]): string {
  const http = endpointOf(page, listeners, "listen-otlp-http");
  return `export OTEL_EXPORTER_OTLP_ENDPOINT=http://${http}\nexport OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\nexport OTEL_SERVICE_NAME=my-service`;
}

function FirstTraces() {
  const status = useResource("traces-status", getStatus);
  const page = new URL(".", document.baseURI);
  return (
    <Empty title="No traces yet">
      <p>Point an OTLP exporter at this server. Programs with an OpenTelemetry SDK take it from their environment:</p>
      <CopyLine text={senderLines(page, status.value?.listeners ?? [])} />
      <p>Or run a small made-up shop, which sends traces, metrics and profiles that belong together:</p>
      <CopyLine text={`hearth demo --url ${page.href.replace(/\/$/, "")}`} />
      <p class="muted">Profiles whose samples carry the ids of spans make flame graphs of single spans: those of OTLP with links, and of the Pyroscope SDKs with their span profiles.</p>
    </Empty>
  );
}

export function NoTraces({ state, isNarrowed }: { state: SearchState; isNarrowed: boolean }) {
  const newest = useResource("traces-newest", (signal) => findTraces(everything, 1, nothingFound, signal));
  if (newest.isLoading && !newest.value) return <Loading />;
  const last = newest.value?.traces[0];
  if (!last && !newest.error) return <FirstTraces />;
  const lastMs = last ? last.start_ns / 1e6 : NaN;
  const goThere = () => changeSearch({ from: String(Math.floor(lastMs - 1800e3)), until: String(Math.ceil(lastMs + 60e3)) });
  return (
    <Empty title={isNarrowed ? "No trace has all of this" : "No traces in this time"}>
      {isNarrowed && (
        <div class="row">
          <p>No trace in this time has a span that meets all conditions{state.attributes.length > 0 ? "; attributes must have exactly the value that is given" : ""}.</p>
          <Button onClick={() => changeSearch(unnarrowed)}>Show all traces</Button>
        </div>
      )}
      {last && (
        <div class="row">
          <p>The newest trace of all started at {formatTime(lastMs, zone.value)}.</p>
          {!isNarrowed && <Button kind="main" onClick={goThere}>Go to that time</Button>}
        </div>
      )}
    </Empty>
  );
}
