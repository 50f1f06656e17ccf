// SPDX-License-Identifier: Apache-2.0
// Small parts that the search and the trace share.

import { formatNumber, shortened } from "../../lib/format.ts";
import { colourVariable } from "../../lib/services.ts";

/** A dot in the colour of a service. */
export function ServiceDot({ name }: { name: string }) {
  return <span class="service-dot" aria-hidden="true" style={{ background: colourVariable(name) }} />;
}

export function ServiceName({ name }: { name: string }) {
  return (
    <span class="service-name" title={shortened(name)}>
      <ServiceDot name={name} />
      <bdi class="clip">{shortened(name, 80) || "(no name)"}</bdi>
    </span>
  );
}

export function ErrorCount({ n }: { n: number }) {
  return n === 0 ? null : <span class="chip bad">{formatNumber(n)} {n === 1 ? "error" : "errors"}</span>;
}

/** A text of somebody else's, cut where it is longer than anybody reads; all of it is in the tooltip as far as that goes. */
export function Foreign({ text, max = 200, class: name = "" }: { text: string; max?: number; class?: string }) {
  return <bdi class={name} title={text.length > 40 ? shortened(text, 2000) : undefined}>{shortened(text, max)}</bdi>;
}
