// SPDX-License-Identifier: Apache-2.0
// Paths of calls in URLs: names of functions from the one below the root on, with semicolons between them, as `hearth query
// --path` takes them. Long ones are written by hashes of the names, so that deep stacks do not make URLs that nobody takes.

const MAX_LENGTH = 1500;

/** The path as text: a semicolon or a backslash within a name has a backslash before it. */
export function joinPath(names: readonly string[]): string {
  const text = names.map((name) => name.replace(/[\\;]/g, "\\$&")).join(";");
  /* What begins like a short form, or is one empty name, begins with an escape that changes nothing. */
  return text.startsWith("~") || (text === "" && names.length === 1) ? `\\${text}` : text;
}

export function splitPath(text: string): string[] {
  if (text === "") return [];
  const names = [""];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === ";") names.push("");
    else if (text[i] === "\\" && i + 1 < text.length) names[names.length - 1] += text[++i];
    else if (text[i] !== "\\") names[names.length - 1] += text[i];
  }
  return names;
}

function hashOf(name: string): string {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return ((hash ^ (hash >>> 15)) >>> 0).toString(36).slice(-5);
}

/** The path for a URL: as joinPath() writes it, or if that is long ~HASH.HASH.HASH. */
export function shortPath(names: readonly string[]): string {
  const text = joinPath(names);
  return text.length <= MAX_LENGTH ? text : `~${names.map(hashOf).join(".")}`;
}

/** One test for each name of a path that shortPath() wrote. */
export function pathTests(text: string): ((name: string) => boolean)[] {
  if (!text.startsWith("~")) return splitPath(text).map((wanted) => (name) => name === wanted);
  return text.slice(1).split(".").map((wanted) => (name) => hashOf(name) === wanted);
}
