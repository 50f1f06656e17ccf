// SPDX-License-Identifier: Apache-2.0
// Writes pprof files with any content, as tests need them.

export interface Frame {
  name: string;
  file?: string;
  line?: number;
  module?: string;
}

export interface Sample {
  stack: readonly Frame[]; // outermost first
  values: readonly (number | bigint)[];
  labels?: Record<string, string>;
}

export interface Pprof {
  types: readonly [type: string, unit: string][];
  samples: readonly Sample[];
  timeMs?: number;
  durationMs?: number;
  period?: { type: string; unit: string; value: number };
}

class Writer {
  #bytes = new Uint8Array(1 << 12);
  #n = 0;

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#n);
  }

  #room(n: number): void {
    if (this.#n + n <= this.#bytes.length) return;
    const bigger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#n + n));
    bigger.set(this.bytes);
    this.#bytes = bigger;
  }

  varint(value: number | bigint): void {
    this.#room(10);
    if (typeof value === "number" && value >= 0 && value < 0x80000000) {
      let rest = value;
      for (; rest > 127; rest >>>= 7) this.#bytes[this.#n++] = (rest & 127) | 128;
      this.#bytes[this.#n++] = rest;
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.#bytes[this.#n++] = Number(rest & 127n) | 128;
    this.#bytes[this.#n++] = Number(rest);
  }

  number(field: number, value: number | bigint): void {
    if (value === 0 || value === 0n) return;
    this.varint(field << 3);
    this.varint(value);
  }

  part(field: number, bytes: Uint8Array): void {
    this.varint((field << 3) | 2);
    this.varint(bytes.length);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#n);
    this.#n += bytes.length;
  }

  numbers(field: number, values: readonly (number | bigint)[]): void {
    const inner = new Writer();
    for (const value of values) inner.varint(value);
    this.part(field, inner.bytes);
  }
}

/** Numbers from 1 for what is new. */
class Table<T> {
  readonly items: T[] = [];
  readonly #index = new Map<string, number>();

  put(key: string, make: () => T): number {
    let id = this.#index.get(key);
    if (id === undefined) {
      id = this.items.push(make());
      this.#index.set(key, id);
    }
    return id;
  }
}

export function makePprof(profile: Pprof): Uint8Array {
  const texts = new Table<string>();
  const text = (value: string): number => (value === "" ? 0 : texts.put(value, () => value));
  const modules = new Table<Uint8Array>();
  const functions = new Table<Uint8Array>();
  const locations = new Table<Uint8Array>();
  const make = (fill: (into: Writer) => void): Uint8Array => {
    const into = new Writer();
    fill(into);
    return into.bytes;
  };
  const moduleOf = (name: string): number =>
    modules.put(name, () => make((into) => {
      into.number(1, modules.items.length + 1);
      into.number(2, (modules.items.length + 1) << 24);
      into.number(3, (modules.items.length + 2) << 24);
      into.number(5, text(name));
      into.number(7, 1);
      into.number(8, 1);
      into.number(9, 1);
    }));
  const locationOf = (frame: Frame): number => {
    const file = frame.file ?? "";
    return locations.put(`${frame.name}\n${file}\n${frame.line ?? 0}\n${frame.module ?? ""}`, () => {
      const id = functions.put(`${frame.name}\n${file}`, () => make((into) => {
        into.number(1, functions.items.length + 1);
        into.number(2, text(frame.name));
        into.number(3, text(frame.name));
        into.number(4, text(file));
      }));
      return make((into) => {
        into.number(1, locations.items.length + 1);
        if (frame.module) into.number(2, moduleOf(frame.module));
        into.part(4, make((line) => {
          line.number(1, id);
          line.number(2, frame.line ?? 0);
        }));
      });
    });
  };
  const valueType = (type: string, unit: string): Uint8Array => make((into) => {
    into.number(1, text(type));
    into.number(2, text(unit));
  });

  const out = new Writer();
  for (const [type, unit] of profile.types) out.part(1, valueType(type, unit));
  for (const sample of profile.samples) {
    out.part(2, make((into) => {
      into.numbers(1, sample.stack.map(locationOf).reverse());
      into.numbers(2, sample.values);
      for (const [name, value] of Object.entries(sample.labels ?? {})) {
        into.part(3, make((label) => {
          label.number(1, text(name));
          label.number(2, text(value));
        }));
      }
    }));
  }
  for (const one of modules.items) out.part(3, one);
  for (const one of locations.items) out.part(4, one);
  for (const one of functions.items) out.part(5, one);
  if (profile.timeMs) out.number(9, BigInt(Math.round(profile.timeMs)) * 1000000n);
  if (profile.durationMs) out.number(10, BigInt(Math.round(profile.durationMs)) * 1000000n);
  if (profile.period) {
    out.part(11, valueType(profile.period.type, profile.period.unit));
    out.number(12, profile.period.value);
  }
  out.part(6, new Uint8Array());
  for (const one of texts.items) out.part(6, new TextEncoder().encode(one));
  return out.bytes;
}
