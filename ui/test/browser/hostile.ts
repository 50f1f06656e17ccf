// SPDX-License-Identifier: Apache-2.0
// Profiles that nobody would send on purpose, but that arrive all the same.

import { makePprof, type Frame, type Sample } from "./pprof.ts";

export const hostileNames: string[] = [
  "<script>document.title='owned'</script>",
  "<img src=x onerror=\"document.title='owned'\">",
  "\"'><svg onload=document.title='owned'>",
  "{{constructor.constructor('document.title=1')()}}",
  "javascript:document.title='owned'",
  "__proto__", "constructor", "toString", "hasOwnProperty",
  "\u202Edlrow olleh\u202C",
  "دالة_الحساب", "функция::считать", "計算する関数",
  "🔥👩‍👩‍👧‍👦🏳️‍🌈",
  "a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309",
  "with\0nul\0bytes", "with\nnewline\tand tab", " ", ";", "a;b\\;c", "100%", "%s%n", "..\\../etc/passwd",
  `${"long_name::".repeat(1000)}end`,
];

const count: [string, string][] = [["samples", "count"]];
const stack = (...names: string[]): Frame[] => names.map((name) => ({ name }));
const of = (types: [string, string][], samples: Sample[]): Uint8Array => makePprof({ types, samples });

/** By what they are about; each can be uploaded. */
export const hostileProfiles: Record<string, () => Uint8Array> = {
  "names": () => of(count, hostileNames.flatMap((name, index) => [
    { stack: stack("main", name, "leaf"), values: [index + 1] },
    { stack: stack(name, name, name), values: [1] },
  ])),
  "duplicates": () => of(count, [1, 2, 3].map((n) => ({ stack: [{ name: "main" }, { name: "same", file: `f${n}.c`, line: n, module: `m${n}` }], values: [n] }))),
  "one node": () => of(count, [{ stack: stack("only"), values: [1] }]),
  "depth of 1,024": () => of(count, [{ stack: Array.from({ length: 1024 }, (_, n) => ({ name: `level_${n % 37}` })), values: [3] }]),
  "values of 2^62": () => of([["cpu", "nanoseconds"]], [
    { stack: stack("main", "huge"), values: [1n << 62n] },
    { stack: stack("main", "tiny"), values: [1] },
  ]),
  "zero totals": () => of(count, [{ stack: stack("main", "nothing"), values: [0] }, { stack: stack("main", "neither"), values: [0] }]),
  "negative values": () => of([["space", "bytes"]], [
    { stack: stack("main", "freed"), values: [-4096] },
    { stack: stack("main", "kept"), values: [1024] },
    { stack: stack("main", "freed", "more"), values: [-1] },
  ]),
  "values that cancel out": () => of(count, [{ stack: stack("main", "plus"), values: [5] }, { stack: stack("main", "minus"), values: [-5] }]),
  "a strange unit": () => of([["<b>things</b>", "furlongs<i>"]], [{ stack: stack("main", "work"), values: [12345] }]),
  "no samples": () => of(count, []),
};

/** Folded stacks that make a tree of about a million nodes, with a few that are deep. */
export function millionNodes(): string {
  const lines: string[] = [];
  for (let a = 0; a < 10; a++) {
    for (let b = 0; b < 10; b++) {
      for (let c = 0; c < 10; c++) {
        for (let d = 0; d < 10; d++) {
          const path = `a${a};b${b};c${c};d${d}`;
          for (let e = 0; e < 10; e++) {
            let line = "";
            for (let f = 0; f < 9; f++) line += `${path};e${e};f${(a * 7 + e * 3 + f * 11) % 97} ${1 + ((a + b * c + d + e + f) % 13)}\n`;
            lines.push(line);
          }
        }
      }
    }
  }
  const deep = Array.from({ length: 1000 }, (_, n) => `deep_${n % 50}`).join(";");
  lines.push(`a0;${deep} 20000\n`);
  return lines.join("");
}
