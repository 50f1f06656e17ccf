// SPDX-License-Identifier: Apache-2.0
// Queries as `hearth query` takes them: read into parts that can be clicked together, written again, and completed at the
// cursor. The grammar is that of the server (selectors in docs/guide/query.md):
//
//     query     = front [ "{" conditions "}" ] | "{" conditions "}" | conditions
//     front     = a service, a service with a short type behind a dot, or a full profile type (with colons)
//     condition = name ("=" | "!=" | "=~" | "!~") value; values and names may stand in quotes, with escapes as in Go
//
// What cannot be read here stays text: the server says what is wrong with it.

export type Operator = "=" | "!=" | "=~" | "!~";
export const operators: readonly Operator[] = ["=", "!=", "=~", "!~"];

export interface Condition {
  name: string;
  operator: Operator;
  value: string;
}

export interface QueryParts {
  front: string; // what stands before the braces; "" if nothing does
  conditions: Condition[];
}

const frontEnd = /["'`{}=!~,]/;
const isNameByte = (c: string) => /[A-Za-z0-9_.-]/.test(c);
const isQuote = (c: string) => c === '"' || c === "'" || c === "`";
const simpleEscapes: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }
  get next(): string {
    return this.text[this.at] ?? "";
  }
  skipSpace(): void {
    while (" \t\n\r".includes(this.next) && !this.isAtEnd) this.at++;
  }
  take(c: string): boolean {
    if (!this.text.startsWith(c, this.at)) return false;
    this.at += c.length;
    return true;
  }
}

/** What follows a backslash, as bytes (numbers) or text; null if it is no escape. */
function readEscape(reader: Reader): string | number | null {
  const digits = (n: number, base: number): number | null => {
    const text = reader.text.slice(reader.at, reader.at + n);
    if (text.length < n || !(base === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/).test(text)) return null;
    reader.at += n;
    return parseInt(text, base);
  };
  const letter = reader.next;
  if (letter >= "0" && letter <= "7") {
    const byte = digits(3, 8);
    return byte === null || byte > 255 ? null : byte;
  }
  reader.at++;
  if (letter in simpleEscapes) return simpleEscapes[letter];
  if (letter === "x") return digits(2, 16);
  if (letter !== "u" && letter !== "U") return null;
  const point = digits(letter === "u" ? 4 : 8, 16);
  return point === null || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)
    ? null
    : String.fromCodePoint(point);
}

/** A text in quotes; the reader is at the first of them. Bytes written as numbers are UTF-8. Null if it is not well-formed. */
function readQuoted(reader: Reader): string | null {
  const quote = reader.text[reader.at++];
  let text = "";
  let bytes: number[] = [];
  const flush = () => {
    if (bytes.length > 0) text += new TextDecoder().decode(new Uint8Array(bytes));
    bytes = [];
  };
  while (!reader.isAtEnd) {
    const c = reader.text[reader.at++];
    if (c === quote) {
      flush();
      return text;
    }
    const part = c === "\\" && quote !== "`" ? readEscape(reader) : c;
    if (part === null) return null;
    if (typeof part === "number") bytes.push(part);
    else {
      flush();
      text += part;
    }
  }
  return null;
}

function readName(reader: Reader): string | null {
  if (isQuote(reader.next)) return readQuoted(reader) || null;
  const start = reader.at;
  while (!reader.isAtEnd && isNameByte(reader.next)) reader.at++;
  return reader.text.slice(start, reader.at) || null;
}

function readOperator(reader: Reader): Operator | null {
  for (const operator of ["!=", "!~", "=~"] as const) if (reader.take(operator)) return operator;
  return reader.take("=") && reader.next !== "=" ? "=" : null;
}

function readCondition(reader: Reader): Condition | null {
  const name = readName(reader);
  if (name === null) return null;
  reader.skipSpace();
  const operator = readOperator(reader);
  if (operator === null) return null;
  reader.skipSpace();
  if (isQuote(reader.next)) {
    const value = readQuoted(reader);
    return value === null ? null : { name, operator, value };
  }
  const start = reader.at;
  while (!reader.isAtEnd && reader.next !== "," && reader.next !== "}") reader.at++;
  return { name, operator, value: reader.text.slice(start, reader.at).trim() };
}

function readConditions(reader: Reader, hasBraces: boolean): Condition[] | null {
  const conditions: Condition[] = [];
  for (;;) {
    reader.skipSpace();
    if (hasBraces ? reader.take("}") : reader.isAtEnd) return conditions;
    const condition = readCondition(reader);
    if (condition === null) return null;
    conditions.push(condition);
    reader.skipSpace();
    if (!reader.take(",") && (hasBraces ? reader.next !== "}" : !reader.isAtEnd)) return null;
  }
}

/** The parts of a query, or null if it cannot be read. */
export function parseQuery(text: string): QueryParts | null {
  const reader = new Reader(text);
  const end = text.search(frontEnd);
  const front = (end < 0 ? text : text.slice(0, end)).trim();
  if (end < 0) return { front, conditions: [] };
  reader.at = end;
  if (!reader.take("{")) {
    reader.at = 0;
    const conditions = readConditions(reader, false);
    return conditions && { front: "", conditions };
  }
  const conditions = readConditions(reader, true);
  reader.skipSpace();
  return conditions && reader.isAtEnd ? { front, conditions } : null;
}

/** A text in double quotes, so that the server reads it back as it is. */
export function quote(text: string): string {
  const escaped = text.replace(/[\\"]/g, "\\$&").replace(/[\x00-\x1f\x7f]/g, (c) => {
    if (c === "\n") return "\\n";
    if (c === "\t") return "\\t";
    return `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `"${escaped}"`;
}

export function printCondition({ name, operator, value }: Condition): string {
  return `${/^[A-Za-z0-9_.-]+$/.test(name) ? name : quote(name)}${operator}${quote(value)}`;
}

export function printQuery({ front, conditions }: QueryParts): string {
  if (conditions.length === 0) return front || "{}";
  return `${front}{${conditions.map(printCondition).join(", ")}}`;
}

/** Whether a service can stand before the braces as it is. */
function isPlainService(name: string): boolean {
  return name !== "" && name === name.trim() && !frontEnd.test(name) && !name.includes(":");
}

/** Words for types that the server knows; other types are words for themselves where they are there. */
const shortTypes = new Set([
  "cpu",
  "wall",
  "itimer",
  "alloc_space",
  "alloc_objects",
  "inuse_space",
  "inuse_objects",
  "goroutines",
  "mutex_count",
  "mutex_duration",
  "block_count",
  "block_duration",
]);

/** How a full type is told in a word: NAME:TYPE:UNIT:... → cpu. */
export function shortType(type: string): string {
  const [name = "", sampleType = type] = type.split(":");
  if (sampleType === "goroutine") return "goroutines";
  const kind = /mutex/i.test(name) ? "mutex" : /block/i.test(name) ? "block" : "";
  if (kind && sampleType === "contentions") return `${kind}_count`;
  if (kind && sampleType === "delay") return `${kind}_duration`;
  return sampleType;
}

/** A service and a type apart. */
export interface Target {
  service: string; // "" if the query names none
  type: string; // full (with colons) or short; "" if it names none
}

/** What a query is about. `services` are those that there are: one whose very name has a dot is meant before a short type. */
export function targetOf(parts: QueryParts, services?: ReadonlySet<string>): Target {
  const named = parts.conditions.find((one) => one.name === "service_name" && one.operator === "=")?.value ?? "";
  const typed = parts.conditions.find((one) => one.name === "__profile_type__" && one.operator === "=")?.value ?? "";
  const { front } = parts;
  if (front.includes(":")) return { service: named, type: front };
  if (front === "") return { service: named, type: typed };
  const dot = front.lastIndexOf(".");
  if (services?.has(front) || dot <= 0 || dot === front.length - 1) return { service: front, type: typed };
  const [service, type] = [front.slice(0, dot), front.slice(dot + 1)];
  if (services?.has(service) || shortTypes.has(type.toLowerCase().replaceAll("-", "_"))) return { service, type };
  return { service: front, type: typed };
}

/** The same conditions, about another service or type. `types` are the full ones of that service, to see whether a short one
 * is enough and what it stands for: only a full type can stand without a service. */
export function withTarget(parts: QueryParts, target: Target, types: readonly string[] = []): QueryParts {
  const isTarget = (one: Condition) =>
    (one.name === "service_name" || one.name === "__profile_type__") && one.operator === "=";
  const conditions = parts.conditions.filter((one) => !isTarget(one));
  const { service } = target;
  const byName: Condition[] = service ? [{ name: "service_name", operator: "=", value: service }] : [];
  const short = target.type.includes(":") ? shortType(target.type) : target.type;
  const full = target.type.includes(":") ? target.type : (types.find((one) => shortType(one) === short) ?? "");
  if (!isPlainService(service)) return { front: full, conditions: [...byName, ...conditions] };
  if (target.type === "") return { front: service, conditions };
  const isUnique =
    types.filter((one) => shortType(one) === short).length <= 1 && isPlainService(short) && !short.includes(".");
  if (isUnique || full === "") return { front: `${service}.${short}`, conditions };
  return { front: full, conditions: [...byName, ...conditions] };
}

/** One more condition; one with = takes the place of others with = on the same label. */
export function withCondition(parts: QueryParts, condition: Condition): QueryParts {
  const isReplaced = (one: Condition) =>
    one.name === condition.name && one.operator === "=" && condition.operator === "=";
  const at = parts.conditions.findIndex(isReplaced);
  if (at < 0) return { ...parts, conditions: [...parts.conditions, condition] };
  return { ...parts, conditions: parts.conditions.map((one, i) => (i === at ? condition : one)) };
}

/** A selector of series for lists of labels and values: the service and the conditions, less those on one label. */
export function selectorOf(parts: QueryParts, services?: ReadonlySet<string>, without?: string): string {
  const { service } = targetOf(parts, services);
  const conditions = parts.conditions.filter((one) => one.name !== without && !one.name.startsWith("__"));
  if (service && without !== "service_name" && !conditions.some((one) => one.name === "service_name")) {
    conditions.unshift({ name: "service_name", operator: "=", value: service });
  }
  return conditions.length > 0 ? `{${conditions.map(printCondition).join(", ")}}` : "";
}

/** What can be completed at a place of the text: the piece from `start` to `end` is to be replaced. */
export interface Completion {
  kind: "front" | "name" | "operator" | "value";
  name: string; // of the label, for values
  typed: string; // what is there of it
  start: number;
  end: number;
}

/** What stands at the cursor; null within what makes no sense. */
export function completionAt(text: string, cursor: number): Completion | null {
  const brace = text.search(frontEnd);
  if (brace < 0 || cursor <= brace) {
    const end = brace < 0 ? text.length : brace;
    return { kind: "front", name: "", typed: text.slice(0, Math.min(cursor, end)).trim(), start: 0, end };
  }
  const reader = new Reader(text);
  reader.at = text[brace] === "{" ? brace + 1 : 0;
  while (reader.at <= cursor) {
    reader.skipSpace();
    const found = completionInCondition(reader, cursor);
    if (found !== undefined) return found;
    reader.skipSpace();
    if (!reader.take(",")) return null;
  }
  return null;
}

/** Reads one condition; what the cursor is at within it, or undefined when it is behind it. */
function completionInCondition(reader: Reader, cursor: number): Completion | null | undefined {
  const { text } = reader;
  const piece = (kind: Completion["kind"], name: string, start: number, typedFrom = start): Completion => ({
    kind,
    name,
    start,
    end: Math.max(reader.at, cursor),
    typed: text.slice(Math.min(typedFrom, cursor), cursor),
  });
  const nameStart = reader.at;
  if (cursor < nameStart) return { kind: "name", name: "", typed: "", start: cursor, end: cursor };
  const name = readName(reader) ?? "";
  if (cursor <= reader.at) return piece("name", "", nameStart);
  reader.skipSpace();
  const operatorStart = reader.at;
  const operator = readOperator(reader);
  if (operator === null) return piece("operator", name, operatorStart);
  reader.skipSpace();
  const valueStart = reader.at;
  if (cursor < valueStart) return { kind: "value", name, typed: "", start: cursor, end: cursor };
  const isQuoted = isQuote(reader.next);
  if (isQuoted && readQuoted(reader) === null) {
    reader.at = text.length;
    return piece("value", name, valueStart, valueStart + 1);
  }
  if (!isQuoted) while (!reader.isAtEnd && reader.next !== "," && reader.next !== "}") reader.at++;
  return cursor <= reader.at ? piece("value", name, valueStart, isQuoted ? valueStart + 1 : valueStart) : undefined;
}

/** The text with a choice put in, and where the cursor is then. */
export function completed(text: string, at: Completion, choice: string): { text: string; cursor: number } {
  let piece = choice;
  if (at.kind === "value") piece = quote(choice);
  else if (at.kind === "name") piece = printCondition({ name: choice, operator: "=", value: "" }).replace(/=""$/, "=");
  let rest = text.slice(at.end);
  if (at.kind === "name" && /^\s*(=|!)/.test(rest)) piece = piece.slice(0, -1);
  if (at.kind === "value" && rest.trim() === "") rest = "}";
  const whole = text.slice(0, at.start) + piece + rest;
  return { text: whole, cursor: at.start + piece.length };
}
