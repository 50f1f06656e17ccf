// SPDX-License-Identifier: Apache-2.0
// What to do when there are no profiles yet: commands to copy, with the address of this very server, and a look every few
// seconds whether the first profile has come.

import { useEffect, useState } from "preact/hooks";
import { getServiceNames } from "../api/fleet.ts";
import { getStatus } from "../api/status.ts";
import { usePoll } from "../lib/poll.ts";
import { useResource } from "../lib/resource.ts";
import { urlOf } from "../lib/route.ts";
import { CopyLine, Segmented } from "./basics.tsx";
import "./FirstRun.css";

/** The service that the server profiles by itself. */
export const SELF_SERVICE = "hearth";

const LOOK_EVERY_MS = 3000;

export interface Guide {
  id: string;
  title: string;
  steps: { text: string; code: string }[];
}

/** Where senders reach this server: the page's own address, without the slash at its end. */
function addressOf(): URL {
  return new URL(".", document.baseURI);
}

/** HOST:PORT for a protocol: that of its own listener if there is one, else the page's, where every protocol works too. */
export function endpointOf(page: URL, listeners: readonly { name: string; address: string }[], name: string): string {
  const own = listeners.find((one) => one.name === name)?.address;
  const port = own ? /:(\d+)$/.exec(own)?.[1] : undefined;
  return `${page.hostname}:${port ?? (page.port || (page.protocol === "https:" ? "443" : "80"))}`;
}

export function guidesOf(page: URL, listeners: readonly { name: string; address: string }[]): Guide[] {
  const url = page.href.replace(/\/$/, "");
  const grpc = endpointOf(page, listeners, "listen-otlp-grpc");
  const http = endpointOf(page, listeners, "listen-otlp-http");
  return [
    {
      id: "demo",
      title: "Try it",
      steps: [{ text: "Run a small made-up shop that sends traces, metrics and profiles of itself here. It uses a quarter of one processor until you stop it.", code: `hearth demo --url ${url}` }],
    },
    {
      id: "file",
      title: "A file",
      steps: [
        { text: "Send a pprof file:", code: `curl --data-binary @cpu.pb.gz '${url}/ingest?name=my-service'` },
        { text: "Other formats become pprof first:", code: "hearth convert stacks.folded cpu.pb.gz" },
        { text: "Many files go into a store while its server is stopped:", code: "hearth import --label service_name=my-service --data-dir hearth-data *.pb.gz" },
      ],
    },
    {
      id: "otlp",
      title: "OpenTelemetry",
      steps: [
        { text: "The eBPF profiler, for whole machines without a change to programs:", code: `otel-ebpf-profiler -collection-agent ${grpc} -disable-tls` },
        { text: "The Collector, in its configuration:", code: `exporters:\n  otlp:\n    endpoint: ${grpc}\n    tls: { insecure: true }\n  otlphttp:\n    endpoint: http://${http}` },
      ],
    },
    {
      id: "sdk",
      title: "Pyroscope SDKs",
      steps: [
        { text: "Go:", code: `pyroscope.Start(pyroscope.Config{ApplicationName: "my-service", ServerAddress: "${url}"})` },
        { text: "Python, and likewise Ruby and Rust:", code: `pyroscope.configure(application_name="my-service", server_address="${url}")` },
        { text: "Node:", code: `Pyroscope.init({ appName: 'my-service', serverAddress: '${url}' })` },
        { text: "Grafana Alloy:", code: `pyroscope.write "hearth" {\n  endpoint { url = "${url}" }\n}` },
      ],
    },
  ];
}

/** `onArrived` is called when there is a service other than the server itself. */
export function FirstRun({ onArrived }: { onArrived: () => void }) {
  const [chosen, setChosen] = useState("demo");
  const version = usePoll(LOOK_EVERY_MS);
  const services = useResource("first-run", (signal) => getServiceNames({}, signal), version);
  const status = useResource("first-run-status", getStatus);
  const names = services.value ?? [];
  const hasArrived = names.some((name) => name !== SELF_SERVICE);
  useEffect(() => {
    if (hasArrived) onArrived();
  }, [hasArrived]);

  const guides = guidesOf(addressOf(), status.value?.listeners ?? []);
  const guide = guides.find((one) => one.id === chosen) ?? guides[0];
  return (
    <section class="first-run" aria-label="First steps">
      <h1>No profiles yet</h1>
      <p>The server is running. Send it a profile in one of these ways, and this page shows it as soon as it is there.</p>
      <Segmented label="Where profiles come from" value={guide.id} choices={guides.map(({ id, title }) => ({ value: id, text: title }))} onChange={setChosen} />
      <ol class="first-run-steps">
        {guide.steps.map((step) => (
          <li key={step.code}>
            <p>{step.text}</p>
            <CopyLine text={step.code} />
          </li>
        ))}
      </ol>
      <p class="first-run-wait" role="status">
        <span class={services.error ? "first-run-dot bad" : "first-run-dot"} aria-hidden="true" />
        {services.error ? "The server cannot be reached at the moment. It is tried again every few seconds." : "Waiting for the first profile."}
      </p>
      <p class="muted">
        A file that is only to be looked at can be dropped on the page <a href={urlOf("adhoc")}>Ad hoc</a>.
        {names.includes(SELF_SERVICE) && <> Until something comes, there is <a href={urlOf("explore", { query: SELF_SERVICE })}>what the server itself does</a>.</>}
      </p>
    </section>
  );
}
