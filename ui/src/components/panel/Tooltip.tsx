// SPDX-License-Identifier: Apache-2.0
// What follows the pointer over a flame graph. It moves without the panel being rendered again.

import { signal, type Signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { nameOf, type FlameTree } from "../../flame/tree.ts";
import { factsOf } from "./facts.ts";

export interface Pointed {
  tree: FlameTree;
  node: number;
  x: number;
  y: number;
}

export function newPointed(): Signal<Pointed | null> {
  return signal<Pointed | null>(null);
}

const DISTANCE = 14;

export function Tooltip({ pointed }: { pointed: Signal<Pointed | null> }) {
  const ref = useRef<HTMLDivElement>(null);
  const at = pointed.value;
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element || !at) return;
    const { width, height } = element.getBoundingClientRect();
    const x = at.x + DISTANCE + width > document.documentElement.clientWidth ? Math.max(4, at.x - DISTANCE - width) : at.x + DISTANCE;
    const y = at.y + DISTANCE + height > innerHeight ? Math.max(4, at.y - DISTANCE - height) : at.y + DISTANCE;
    element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }, [at]);
  if (!at || at.node >= at.tree.n) return null;
  return (
    <div class="frame-tip" ref={ref} aria-hidden="true">
      <div class="frame-tip-name" dir="auto">{nameOf(at.tree, at.node)}</div>
      <dl>
        {factsOf(at.tree, at.node).map((fact) => (
          <div key={fact.label}>
            <dt>{fact.label}</dt>
            <dd class={fact.tone}>{fact.text}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
