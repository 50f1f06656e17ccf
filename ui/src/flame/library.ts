// SPDX-License-Identifier: Apache-2.0
// Which library a function belongs to: the module it was loaded from, or else the package that its name tells.

import { KINDS, type FlameTree } from "./tree.ts";

/** The package in a name: of Go the import path, of others what is before the last dot or colons; "" if there is none. */
export function packageOf(name: string): string {
  const text = name.length > 400 ? name.slice(0, 400) : name;
  const slash = text.lastIndexOf("/", /[(<[]/.exec(text)?.index ?? text.length);
  const go = /^[^.(<\s]*(?=\.)/.exec(text.slice(slash + 1));
  if (slash > 0 && go && !text.startsWith("/")) return text.slice(0, slash + 1) + go[0];
  if (/^(?:[./]|[a-z]+:\/\/)/.test(text)) return text.slice(0, Math.max(slash, 0));
  const bare = text.replace(/[(<].*$/s, "");
  const colons = bare.indexOf("::");
  if (colons > 0) return bare.slice(0, colons).replace(/^.*\s/, "");
  const parts = bare.split(".");
  if (parts.length === 1 || /\s/.test(bare)) return "";
  /* java.util.HashMap.put: packages are written small, types are not. */
  const type = parts.findIndex((part) => /^[A-Z]/.test(part));
  return (type > 0 ? parts.slice(0, type) : parts.slice(0, -1)).join(".");
}

/** The name of the library of a name of the tree. */
export function libraryOf(tree: FlameTree, name: number): string {
  if (KINDS[tree.kinds[name]] === "kernel") return "[kernel]";
  const fromName = packageOf(tree.names[name]);
  const module = tree.texts[tree.modules[name]];
  const kind = KINDS[tree.kinds[name]];
  const isNative = kind === "native" || kind === "rust" || kind === "" || kind === undefined;
  if (module && (isNative || !fromName)) return module.slice(module.lastIndexOf("/") + 1) || module;
  return fromName || (kind ? `[${kind}]` : "[unknown]");
}
