// SPDX-License-Identifier: Apache-2.0
// What is around every view: the way to the others, sharing, and the tools.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useKeys } from "../lib/keys.ts";
import { parseQuery, targetOf } from "../lib/query.ts";
import { navigate, route, urlOf, type Params, type ViewName } from "../lib/route.ts";
import { Button, copyText } from "./basics.tsx";
import { Toasts } from "./Toast.tsx";
import { Brand, KeysButton, SettingsButton } from "./Tools.tsx";
import "./Shell.css";

const views: { name: ViewName; title: string; key: string }[] = [
  { name: "fleet", title: "Fleet", key: "f" },
  { name: "explore", title: "Explore", key: "e" },
  { name: "traces", title: "Traces", key: "t" },
  { name: "compare", title: "Compare", key: "c" },
  { name: "adhoc", title: "Ad hoc", key: "a" },
  { name: "status", title: "Status", key: "s" },
];

/* Views about a service at some time, in turn: what one shows of it is what another begins with. */
const related: ReadonlySet<ViewName> = new Set(["explore", "compare", "traces"]);

/** What the address of another view should take along: the times, and the query or its service. */
function carried(to: ViewName): Params {
  const { view, params } = route.value;
  if (view === to || !related.has(to) || !related.has(view)) return {};
  const times = { from: params.get("from"), until: params.get("until") };
  const parts = parseQuery(params.get("query") ?? "");
  if (to === "traces") return { ...times, service: parts && targetOf(parts).service };
  if (view === "traces") return { ...times, query: params.get("service") };
  return { ...times, query: params.get("query") };
}

export function Shell({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const { view } = route.value;
  const title = views.find((one) => one.name === view)!.title;

  useKeys([
    ...views.map((one) => ({
      keys: `g ${one.key}`, group: "Everywhere", what: `Go to ${one.title}`, run: () => navigate({ view: one.name, params: carried(one.name) }),
    })),
    { keys: "y", group: "Everywhere", what: "Copy the link to this view", run: () => void copyText(location.href, "The link is") },
  ]);
  useEffect(() => {
    document.title = view === "fleet" ? "hearth" : `${title} · hearth`;
  }, [view]);

  return (
    <>
      <a class="skip" href="#main" data-out="" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="shell-head">
        <a class="brand-link" href={urlOf("fleet")}><Brand /></a>
        <nav aria-label="Views">
          {views.map((one) => (
            <a key={one.name} href={urlOf(one.name, carried(one.name))} aria-current={one.name === view ? "page" : undefined}>{one.title}</a>
          ))}
        </nav>
        <div class="shell-tools">
          <Button kind="quiet" title="Copy the link to this view" onClick={() => void copyText(location.href, "The link is")}>Share</Button>
          <SettingsButton />
          <KeysButton />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>{children}</main>
      <Toasts />
    </>
  );
}
