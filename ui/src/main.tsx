// SPDX-License-Identifier: Apache-2.0
// Where the page begins.

import { render, type ComponentType } from "preact";
import "./style/tokens.css";
import "./style/base.css";
import { later, loadTheRest } from "./components/Later.tsx";
import { Shell } from "./components/Shell.tsx";
import { listenForKeys } from "./lib/keys.ts";
import { followHistory, route, type ViewName } from "./lib/route.ts";
import { DropTarget } from "./views/adhoc/DropTarget.tsx";
import { Explore } from "./views/explore/Explore.tsx";
import { Fleet } from "./views/fleet/Fleet.tsx";

/* People come to the fleet and to Explore first; the rest is loaded when they go there, or when there is nothing else to do. */
const views: Record<ViewName, ComponentType> = {
  fleet: Fleet,
  explore: Explore,
  traces: later(async () => (await import("./views/traces/Traces.tsx")).Traces),
  compare: later(async () => (await import("./views/compare/Compare.tsx")).Compare),
  status: later(async () => (await import("./views/status/Status.tsx")).Status),
  adhoc: later(async () => (await import("./views/adhoc/Adhoc.tsx")).Adhoc),
};

const REST_MS = 3000;

function Page() {
  const View = views[route.value.view];
  return (
    <Shell>
      <View key={route.value.view} />
      <DropTarget />
    </Shell>
  );
}

followHistory();
listenForKeys();
render(<Page />, document.getElementById("app")!);
addEventListener("load", () => setTimeout(() => void loadTheRest(), REST_MS));
