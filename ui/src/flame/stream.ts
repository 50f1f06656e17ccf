// SPDX-License-Identifier: Apache-2.0
// Reading numbers out of bytes that nobody vouches for.

/** The bytes are not what docs/format-flame.md asks for. Its message is a sentence for people. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

const MAX_NUMBER_BYTES = 10;
const NOT_ASCII = /[^\0-\x7f]/;
const utf8 = new TextDecoder();

/** A part of the bytes, read from its beginning to its end. Loops over many numbers keep `at` in a variable of their own, read
 *  without looking at the end, and give it back to close(): what lies behind a part is other parts, or nothing. */
export class Stream {
  readonly bytes: Uint8Array;
  readonly start: number;
  at: number;
  private readonly end: number;
  private readonly label: string;

  constructor(bytes: Uint8Array, start: number, end: number, label: string) {
    this.bytes = bytes;
    this.start = this.at = start;
    this.end = end;
    this.label = label;
  }

  get nLeft(): number {
    return this.end - this.at;
  }

  fail(what: string): never {
    throw new FormatError(`This flame graph is damaged: ${what} (${this.label}, byte ${this.at}). Load it again.`);
  }

  /** An unsigned LEB128 number. Beyond 2^53 it is rounded. */
  number(): number {
    const { bytes, end } = this;
    let value = 0;
    let scale = 1;
    for (let i = 1; i <= MAX_NUMBER_BYTES; i++) {
      if (this.at >= end) this.fail("it ends early");
      const byte = bytes[this.at++];
      if (i === MAX_NUMBER_BYTES && byte > 1) break;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    return this.fail("a number is too long");
  }

  /** The number at `at`, which has more than one byte; this.at is behind it then. */
  numberAt(at: number): number {
    this.at = at;
    return this.number();
  }

  /** All numbers that are left; none may have more than 32 bits. */
  rest(): Uint32Array {
    const { bytes } = this;
    const into = new Uint32Array(this.nLeft);
    const end = this.at + this.nLeft;
    let n = 0;
    for (let at = this.at; at < end; ) {
      let value = bytes[at++];
      if (value > 127) {
        value = this.numberAt(at - 1);
        at = this.at;
        if (value >= 2 ** 32) this.fail(`${value} is too large`);
      }
      into[n++] = value;
    }
    this.at = end;
    return into.subarray(0, n);
  }

  /** A zigzag-coded number: 0, -1, 1, -2 are 0, 1, 2, 3. */
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Bytes as UTF-8; what is none becomes replacement characters. */
  text(length: number): string {
    if (length > this.nLeft) this.fail(`a text has ${length} bytes`);
    this.at += length;
    return utf8.decode(this.bytes.subarray(this.at - length, this.at));
  }

  /** n texts, each behind its length, up to the end. */
  texts(n: number): string[] {
    const { bytes, start } = this;
    /* A character for each byte, so that texts are cut out of one: most of them have nothing but ASCII. */
    const all = new TextDecoder("latin1").decode(bytes.subarray(start, this.end));
    const texts = new Array<string>(n);
    for (let i = 0; i < n; i++) {
      const length = this.number();
      const from = this.at - start;
      texts[i] = all.slice(from, from + length);
      if (length > this.nLeft || NOT_ASCII.test(texts[i])) texts[i] = this.text(length);
      else this.at += length;
    }
    this.close();
    return texts;
  }

  /** The next `length` bytes as a stream of their own. */
  part(length: number, label: string): Stream {
    if (length > this.nLeft) this.fail(`${label} take ${length} bytes, ${this.nLeft} are left`);
    this.at += length;
    return new Stream(this.bytes, this.at - length, this.at, label);
  }

  /** Says that everything was read, up to `at`. */
  close(at = this.at): void {
    this.at = at;
    if (this.nLeft !== 0) this.fail(this.nLeft < 0 ? "it ends early" : `${this.nLeft} bytes are left over`);
  }
}
