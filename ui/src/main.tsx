// SPDX-License-Identifier: Apache-2.0
// Where the page begins.

import { render } from "preact";
import "./style/tokens.css";
import "./style/base.css";
import { Shell } from "./components/Shell.tsx";
import { listenForKeys } from "./lib/keys.ts";
import { followHistory, route, type ViewName } from "./lib/route.ts";
import { Adhoc } from "./views/adhoc/Adhoc.tsx";
import { DropTarget } from "./views/adhoc/DropTarget.tsx";
import { Compare } from "./views/compare/Compare.tsx";
import { Explore } from "./views/explore/Explore.tsx";
import { Fleet } from "./views/fleet/Fleet.tsx";
import { Status } from "./views/status/Status.tsx";

const views: Record<ViewName, () => preact.JSX.Element> = { fleet: Fleet, explore: Explore, compare: Compare, status: Status, adhoc: Adhoc };

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
