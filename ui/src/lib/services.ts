// SPDX-License-Identifier: Apache-2.0
// One colour for each service, the same wherever the page shows it. Names choose a colour by themselves, so that it is the same
// next time as well; two that choose the same get different ones as long as there are some.

export const nColours = 8;

const taken = new Map<string, number>();

function preferred(name: string): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length && i < 256; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return ((hash ^ (hash >>> 15)) >>> 0) % nColours;
}

/** Gives colours to services that have none yet. In order of their names, so that it does not matter who was listed first. */
export function meetServices(names: readonly string[]): void {
  for (const name of [...new Set(names)].sort()) {
    if (taken.has(name)) continue;
    const used = new Set(taken.values());
    let colour = preferred(name);
    for (let i = 0; i < nColours && used.has(colour) && used.size < nColours; i++) colour = (colour + 1) % nColours;
    taken.set(name, colour);
  }
}

/** The number of a service's colour, 0 to 7. */
export function colourOf(name: string): number {
  meetServices([name]);
  return taken.get(name)!;
}

/** The same as CSS has it. */
export function colourVariable(name: string): string {
  return `var(--chart-${1 + colourOf(name)})`;
}
