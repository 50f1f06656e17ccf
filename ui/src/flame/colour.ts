// SPDX-License-Identifier: Apache-2.0
// Colours of frames: by package, module, kind, heat or difference, for light and dark pages. They are chosen in OKLCH, where
// equal lightness looks equally light, so that the text on every frame has the contrast that WCAG AA asks for. The difference
// goes from blue over grey to orange, which people who do not see red and green apart can read.

import { type FlameTree, selfWidths } from "./tree.ts";

export type Colouring = "package" | "module" | "kind" | "diff" | "heat";
export type Theme = "light" | "dark";

/** No table is as long as this. */
export const UNKNOWN = 255;

/** Colours are packed as ImageData has them: red in the lowest byte, opaque. */
export interface Colours {
  /** For each name its place in the tables below, or null if they are a diff palette. Place 0 is that of no group, UNKNOWN
   *  that of a name nobody asked for yet: see placeOfName(). */
  ofName: Uint8Array | null;
  /** Finds the place of a name. */
  find(name: number): number;
  plain: Uint32Array;
  /** Of inlined frames. */
  soft: Uint32Array;
  /** Of frames that a search did not find. */
  dim: Uint32Array;
  background: number;
  /** Marks frames too narrow to be drawn. */
  thin: number;
  /** Frames that a search found, and the text on them. */
  hit: number;
  hitText: number;
  lit: number;
  text: number;
  /** Outlines. */
  hover: number;
  selected: number;
}

function oklch(lightness: number, chroma: number, hue: number): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channel = (linear: number) => {
    const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
    return Math.round(Math.min(1, Math.max(0, value)) * 255);
  };
  const red = channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  const green = channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  const blue = channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
  return (red | (green << 8) | (blue << 16) | 0xff000000) >>> 0;
}

function mix(colour: number, other: number, share: number): number {
  let mixed = 0xff000000;
  for (let shift = 0; shift < 24; shift += 8) {
    const [from, to] = [(colour >>> shift) & 255, (other >>> shift) & 255];
    mixed |= Math.round(from + (to - from) * share) << shift;
  }
  return mixed >>> 0;
}

/** A packed colour as CSS writes it. */
export function cssColour(colour: number): string {
  const hex = (shift: number) => ((colour >>> shift) & 255).toString(16).padStart(2, "0");
  return `#${hex(0)}${hex(8)}${hex(16)}`;
}

/** The ratio of WCAG between two colours. */
export function contrast(one: number, other: number): number {
  const luminance = (colour: number) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
      const value = ((colour >>> (8 * i)) & 255) / 255;
      return sum + weight * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    }, 0);
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length && i < 256; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  value ^= value >>> 15;
  return (Math.imul(value, 2246822519) ^ (value >>> 13)) >>> 0;
}

/** The last part of a path. */
function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The package of Go or Java, the crate or outermost namespace of Rust or C++, as far as a name tells; "" if it does not. */
function packageIn(tree: FlameTree, name: number): string {
  if (tree.kinds[name] === 2) return "kernel";
  const text = tree.names[name].slice(0, 256).replace(/[<({[].*/s, (rest) => (rest.startsWith("(*") ? "." : ""));
  const colons = text.indexOf("::");
  if (colons > 0) return text.slice(0, colons);
  const slash = text.lastIndexOf("/");
  const dot = text.indexOf(".", slash + 1);
  if (slash >= 0 && dot > 0) return text.slice(0, dot);
  const words = text.split(".");
  if (words.length > 2) return words.slice(0, -2).join(".");
  return words.length === 2 ? words[0] : "";
}

/** What a function belongs to: its package, or its module where its name tells of none. */
export function packageOf(tree: FlameTree, name: number): string {
  return packageIn(tree, name) || moduleOf(tree, name);
}

/** What has one hue when colours go by packages. Plain C has no packages but habits: parse_value and parse_string are kin. */
function kinOf(tree: FlameTree, name: number): string {
  const found = packageIn(tree, name);
  if (found !== "") return found;
  const text = tree.names[name];
  if (name === tree.name[0] || (text === "other" && tree.modules[name] === 0)) return ""; /* no function */
  if (text.startsWith("[")) return moduleOf(tree, name);
  return /^_*([^_]{2,64})/.exec(text)?.[1] ?? moduleOf(tree, name);
}

/** The file that holds the code, without its folder. */
export function moduleOf(tree: FlameTree, name: number): string {
  return baseOf(tree.texts[tree.modules[name]]);
}

const N_HUES = 24;
const N_SHADES = 3;
const N_HEATS = 16;
const N_DIFFS = 8; /* on either side of unchanged */
/* One hue for each kind; kernel, Go, Rust, JVM and so on keep theirs from page to page. */
const KIND_HUES = [0, 245, 30, 200, 50, 265, 75, 100, 10, 290, 180, 310, 340, 220, 130, 0];

interface Tones {
  background: number;
  text: number;
  lightness: number;
  /** Lightness of what belongs to no group. */
  plain: number;
  chroma: number;
  step: number;
  shared: Pick<Colours, "thin" | "hit" | "hitText" | "lit" | "hover" | "selected">;
}

const TONES: Record<Theme, Tones> = {
  light: {
    background: 0xffffffff,
    text: oklch(0.22, 0.01, 260),
    lightness: 0.84,
    plain: 0.9,
    chroma: 0.085,
    step: 0.025,
    shared: {
      thin: oklch(0.84, 0.005, 60),
      hit: oklch(0.52, 0.22, 330),
      hitText: 0xffffffff,
      lit: oklch(0.52, 0.22, 330),
      hover: oklch(0.35, 0.02, 260),
      selected: oklch(0.3, 0.1, 260),
    },
  },
  dark: {
    background: 0xff14191d, /* as --surface */
    text: oklch(0.96, 0.005, 260),
    lightness: 0.43,
    plain: 0.38,
    chroma: 0.075,
    step: 0.022,
    shared: {
      thin: oklch(0.36, 0.006, 60),
      hit: oklch(0.8, 0.15, 330),
      hitText: oklch(0.18, 0.02, 330),
      lit: oklch(0.8, 0.15, 330),
      hover: oklch(0.9, 0.01, 260),
      selected: oklch(0.97, 0.02, 260),
    },
  },
};

/** The colours of a diff: place 0 for what was cut, then from gone over unchanged to new. */
function diffTable(theme: Theme): number[] {
  const isLight = theme === "light";
  const [grey, far] = isLight ? [0.9, 0.7] : [0.36, 0.5];
  const table = [oklch(isLight ? 0.86 : 0.32, 0, 0)];
  for (let i = -N_DIFFS; i <= N_DIFFS; i++) {
    const size = Math.abs(i) / N_DIFFS;
    table.push(oklch(grey + (far - grey) * size, (isLight ? 0.14 : 0.12) * size, i < 0 ? 250 : 55));
  }
  return table;
}

function hueTable(tones: Tones): number[] {
  const table = [oklch(tones.plain, 0.006, 260)];
  for (let hue = 0; hue < N_HUES; hue++)
    for (let shade = 0; shade < N_SHADES; shade++)
      table.push(oklch(tones.lightness + (shade - 1) * tones.step, tones.chroma, 25 + (hue * 360) / N_HUES));
  return table;
}

function heatTable(theme: Theme): number[] {
  const table = [TONES[theme].shared.thin];
  for (let i = 0; i < N_HEATS; i++) {
    const heat = i / (N_HEATS - 1);
    const lightness = theme === "light" ? 0.94 - 0.26 * heat : 0.34 + 0.18 * heat;
    table.push(oklch(lightness, 0.02 + 0.14 * heat, 95 - 65 * heat));
  }
  return table;
}

function placeOf(group: string, name: string): number {
  if (group === "") return 0;
  return 1 + (hash(group) % N_HUES) * N_SHADES + (hash(name) % N_SHADES);
}

/** Names by how much they have of their own, over the whole tree: what is hot glows wherever it is called. */
function heatOfNames(tree: FlameTree): Uint8Array {
  const selfs = selfWidths(tree);
  const sums = new Float64Array(tree.names.length);
  for (let i = 0; i < tree.n; i++) sums[tree.name[i]] += selfs[i];
  const hottest = sums.reduce((a, b) => Math.max(a, b), 0) || 1;
  return Uint8Array.from(sums, (sum) => 1 + Math.round(Math.sqrt(Math.max(0, sum) / hottest) * (N_HEATS - 1)));
}

function placeByKind(tree: FlameTree, name: number): number {
  const kind = tree.kinds[name];
  if (kind === 0 || kind >= KIND_HUES.length) return 0;
  const hue = Math.round((KIND_HUES[kind] - 25 + 360) / (360 / N_HUES)) % N_HUES;
  return 1 + hue * N_SHADES + (hash(tree.names[name]) % N_SHADES);
}

/** The place of a name in the tables. It is found when it is first asked for: most names are never seen. */
export function placeOfName(colours: Colours, name: number): number {
  const places = colours.ofName;
  if (places === null) return 0;
  if (places[name] === UNKNOWN) places[name] = colours.find(name);
  return places[name];
}

/** The colours of a tree. What has two sides is the only thing that has a diff; others are coloured by package then. */
export function coloursFor(tree: FlameTree, colouring: Colouring, theme: Theme, background?: number): Colours {
  const tones = TONES[theme];
  const isDiff = colouring === "diff" && tree.before !== null;
  const table = isDiff ? diffTable(theme) : colouring === "heat" ? heatTable(theme) : hueTable(tones);
  const ground = background ?? tones.background;
  const mixed = (share: number) => Uint32Array.from(table, (colour) => mix(colour, ground, share));
  const find = (name: number) => {
    if (colouring === "kind") return placeByKind(tree, name);
    return placeOf(colouring === "module" ? moduleOf(tree, name) : kinOf(tree, name), tree.names[name]);
  };
  const places = colouring === "heat" ? heatOfNames(tree) : new Uint8Array(tree.names.length).fill(UNKNOWN);
  return {
    ...tones.shared,
    ofName: isDiff ? null : places,
    find,
    plain: Uint32Array.from(table),
    soft: mixed(0.35),
    dim: mixed(0.75),
    background: ground,
    text: tones.text,
  };
}
