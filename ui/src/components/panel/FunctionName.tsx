// SPDX-License-Identifier: Apache-2.0
// The name of a function in a table: where it does not fit, the folders of its package go first.

const MAX_SHOWN = 1000;

/** Where the path of folders in a name ends: behind the last slash before any brackets. */
export function foldersEnd(name: string): number {
  const brackets = name.search(/[([<{\s]/);
  return name.lastIndexOf("/", brackets < 0 ? name.length : brackets) + 1;
}

/** The name without the folders of its package. */
export function shortName(name: string): string {
  return name.slice(foldersEnd(name)) || name;
}

export function FunctionName({ name }: { name: string }) {
  const shown = name.slice(0, MAX_SHOWN);
  const end = foldersEnd(shown);
  return (
    <span class="function-name mono" title={shown}>
      {end > 0 && <span class="clip" dir="auto">{shown.slice(0, end)}</span>}
      <span class="clip" dir="auto">{shown.slice(end)}</span>
    </span>
  );
}
