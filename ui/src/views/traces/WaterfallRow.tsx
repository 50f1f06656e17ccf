// SPDX-License-Identifier: Apache-2.0
// One span: its name where it stands in the tree, how long it took, and its bar, with what is known of its time inside.

import type { Range } from "../../flame/range.ts";
import { formatCount, formatDuration, shortened } from "../../lib/format.ts";
import { colourVariable } from "../../lib/services.ts";
import { indentOf, placed, placedParts, placeOf, ROW_HEIGHT } from "./bars.ts";
import { nBelow, type SpanTree, type Stretch } from "./spans.ts";

/** What all rows share. */
export interface RowLayout {
  nameWidth: number;
  numberWidth: number;
  timeWidth: number;
  range: Range;
  stretches: ReadonlyMap<number, readonly Stretch[]> | null; // of the critical path, by span
  hits: ReadonlySet<number> | null; // what is looked for; others are paler
}

const MAX_MARKS = 50;

function Bar({ tree, span, layout }: { tree: SpanTree; span: number; layout: RowLayout }) {
  const { range, timeWidth, stretches } = layout;
  const one = tree.spans[span];
  const whole = placed(one.offset_ns, one.offset_ns + one.duration_ns, range, timeWidth, 2);
  if (!whole) {
    const isBefore = one.offset_ns < range.v0;
    return <span class={isBefore ? "bar-away before" : "bar-away behind"} aria-hidden="true">{isBefore ? "‹" : "›"}</span>;
  }
  return (
    <>
      <span class="bar" style={{ transform: `translateX(${whole.left}px)`, width: `${whole.width}px` }}>
        {placedParts(one, range, timeWidth).map((part) => (
          <span key={part.kind} class={`bar-part ${part.kind}`} style={{ left: `${part.left - whole.left}px`, width: `${part.width}px` }} />
        ))}
      </span>
      {one.events.slice(0, MAX_MARKS).map((event, i) => {
        const x = placeOf(event.offset_ns, range, timeWidth);
        return x < 0 || x > timeWidth ? null : <span key={i} class="bar-event" title={shortened(event.name)} style={{ transform: `translateX(${x}px)` }} />;
      })}
      {stretches?.get(span)?.slice(0, MAX_MARKS).map((stretch, i) => {
        const place = placed(stretch.fromNs, stretch.untilNs, range, timeWidth, 1);
        return place && <span key={`path${i}`} class="bar-path" style={{ transform: `translateX(${place.left}px)`, width: `${place.width}px` }} />;
      })}
    </>
  );
}

export function WaterfallRow({ tree, span, row, layout, isSelected, isClosed, onSelect, onToggle, onZoom }: {
  tree: SpanTree;
  span: number;
  row: number;
  layout: RowLayout;
  isSelected: boolean;
  isClosed: boolean;
  onSelect: () => void;
  onToggle: () => void;
  onZoom: () => void;
}) {
  const one = tree.spans[span];
  const { nameWidth, numberWidth, timeWidth, hits } = layout;
  const below = nBelow(tree, span);
  const tone = hits === null ? "" : hits.has(span) ? " hit" : " pale";
  const cpu = one.latency.cpu_ns > 0 ? `, ${formatDuration(one.latency.cpu_ns)} on CPU` : "";
  return (
    <div
      class={`span-row${isSelected ? " selected" : ""}${tone}`}
      role="row"
      id={`span-row-${row}`}
      aria-rowindex={row + 1}
      aria-level={one.depth + 1}
      aria-expanded={below > 0 ? !isClosed : undefined}
      aria-selected={isSelected}
      style={{ transform: `translateY(${row * ROW_HEIGHT}px)`, "--service": colourVariable(one.service) }}
      onClick={onSelect}
      onDblClick={onZoom}
    >
      <div class="span-name" role="gridcell" style={{ width: `${nameWidth}px`, paddingLeft: `${indentOf(one.depth, nameWidth)}px` }} title={shortened(`${one.service}: ${one.operation}`)}>
        {below > 0 ? (
          <span
            class="span-toggle"
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              onToggle();
            }}
          >
            {isClosed ? "▸" : "▾"}
          </span>
        ) : (
          <span class="span-toggle" />
        )}
        <span class="service-dot" aria-hidden="true" />
        {one.status === "error" && <span class="span-error" role="img" aria-label="failed" title={shortened(one.message) || "It failed."}>!</span>}
        <span class="clip">
          <bdi class="span-operation">{shortened(one.operation, 120) || "(no name)"}</bdi> <bdi class="muted">{shortened(one.service, 60)}</bdi>
        </span>
        {isClosed && <span class="chip span-count" title={`${below} spans below are not shown`}>+{formatCount(below)}</span>}
      </div>
      <div class="span-duration number" role="gridcell" style={{ width: `${numberWidth}px` }} aria-label={`${formatDuration(one.duration_ns)}${cpu}`}>
        {formatDuration(one.duration_ns)}
      </div>
      <div class="span-time" role="gridcell" aria-label={`starts at ${formatDuration(one.offset_ns)}`} style={{ width: `${timeWidth}px` }}>
        <Bar tree={tree} span={span} layout={layout} />
      </div>
    </div>
  );
}
