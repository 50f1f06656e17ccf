// SPDX-License-Identifier: Apache-2.0
// One colour for each service, the same wherever the page shows it. Names choose a colour by themselves; two that choose the
// same get different ones as long as there are some. Which they got is kept in this browser, so that it stays.

export const nColours = 8;
const MAX_KEPT = 64;
const KEY = "hearth.services";

function read(): Map<string, number> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(kept)) return new Map();
    return new Map(kept.filter((one): one is [string, number] => typeof one?.[0] === "string" && Number.isInteger(one[1]) && one[1] >= 0 && one[1] < nColours));
  } catch {
    return new Map(); /* storage may be forbidden, or hold what somebody else wrote */
  }
}

function keep(colours: ReadonlyMap<string, number>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([...colours].slice(0, MAX_KEPT)));
  } catch {
    /* then it holds for this page alone */
  }
}

const taken = read();

function preferred(name: string): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length && i < 256; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return ((hash ^ (hash >>> 15)) >>> 0) % nColours;
}

/** Gives colours to services that have none yet. In order of their names, so that it does not matter who was listed first. */
export function meetServices(names: readonly string[]): void {
  const strangers = [...new Set(names)].filter((name) => !taken.has(name)).sort();
  for (const name of strangers) {
    const used = new Set(taken.values());
    let colour = preferred(name);
    for (let i = 0; i < nColours && used.has(colour) && used.size < nColours; i++) colour = (colour + 1) % nColours;
    taken.set(name, colour);
  }
  if (strangers.length > 0) keep(taken);
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
