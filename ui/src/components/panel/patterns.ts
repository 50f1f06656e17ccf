// SPDX-License-Identifier: Apache-2.0
// Names to be hidden or lit: patterns that people type, and single functions that they chose, as `^name$`.

import { MAX_TESTED, parsePattern } from "../../flame/search.ts";

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** A pattern for exactly this name. */
export function exactly(name: string): string {
  return `^${escapePattern(name)}$`;
}

/** A search that lights the frames of exactly this name, as far as a search looks into names. */
export function exactSearch(name: string): RegExp {
  return new RegExp(name.length > MAX_TESTED ? `^${escapePattern(name.slice(0, MAX_TESTED))}` : exactly(name));
}

/** The alternatives of a pattern: split at | that is in no group, no class and not escaped. */
export function alternativesOf(text: string): string[] {
  const parts = [""];
  let depth = 0;
  let isClass = false;
  for (let i = 0; i < text.length; i++) {
    const sign = text[i];
    if (sign === "\\") parts[parts.length - 1] += sign + (text[++i] ?? "");
    else if (sign === "|" && depth === 0 && !isClass) parts.push("");
    else {
      if (isClass) isClass = sign !== "]";
      else if (sign === "[") isClass = true;
      else if (sign === "(") depth++;
      else if (sign === ")") depth--;
      parts[parts.length - 1] += sign;
    }
  }
  return parts.filter((part) => part !== "");
}

/** The name that an alternative means exactly, or null. */
export function literalOf(alternative: string): string | null {
  const inside = /^\^(.*)\$$/s.exec(alternative)?.[1];
  if (inside === undefined) return null;
  const plain = inside.replace(/\\[\\^$.*+?()[\]{}|]/g, "");
  return /[\\^$.*+?()[\]{}|]/.test(plain) ? null : inside.replace(/\\(.)/gs, "$1");
}

export interface Hiding {
  isHidden: (name: string) => boolean;
  problem: string | null;
}

/** A test of names for what shall be hidden. Single functions are compared, not matched, so that any number of them of any
 *  length will do. */
export function hidingOf(text: string): Hiding | null {
  if (text === "") return null;
  const literals = new Set<string>();
  const rest: string[] = [];
  for (const part of alternativesOf(text)) {
    const literal = literalOf(part);
    if (literal === null) rest.push(part);
    else literals.add(literal);
  }
  const parsed = rest.length > 0 ? parsePattern(rest.join("|")) : null;
  if (parsed && "problem" in parsed) return { isHidden: (name) => literals.has(name), problem: parsed.problem };
  return {
    isHidden: (name) => literals.has(name) || (parsed !== null && parsed.pattern.test(name.slice(0, MAX_TESTED))),
    problem: null,
  };
}

/** `text` with one more alternative. */
export function withAlternative(text: string, alternative: string): string {
  return alternativesOf(text).includes(alternative) ? text : text ? `${text}|${alternative}` : alternative;
}
