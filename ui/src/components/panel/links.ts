// SPDX-License-Identifier: Apache-2.0
// Links to source code by a template that people set once: https://example.org/{module}/{file}#L{line}.

export interface SourcePlace {
  file: string;
  line: number; // 0 = unknown
  module: string;
  function: string;
}

/** The address, or null where there is no template or it is no address to go to. */
export function sourceLink(template: string, place: SourcePlace): string | null {
  if (template === "") return null;
  const values: Record<string, string> = {
    file: place.file.replace(/^\/+/, "").split("/").map(encodeURIComponent).join("/"),
    line: place.line ? String(place.line) : "1",
    module: place.module.replace(/^\/+/, "").split("/").map(encodeURIComponent).join("/"),
    function: encodeURIComponent(place.function),
  };
  const address = template.replace(/\{(file|line|module|function)\}/g, (_, name: string) => values[name]);
  return problemOf(template) === null ? address : null;
}

/** What is wrong with a template, in a sentence, or null. Only addresses that open something are taken, no scripts. */
export function problemOf(template: string): string | null {
  if (!/^(https?|vscode|vscode-insiders|idea|cursor|zed|file|editor|emacs|txmt|subl):/i.test(template)) {
    return "A link begins with https://, http:// or the scheme of an editor, such as vscode://file/{file}:{line}.";
  }
  return /\{(file|function)\}/.test(template) ? null : "The link needs {file} or {function}, or it would be the same for every frame.";
}
