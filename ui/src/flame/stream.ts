// SPDX-License-Identifier: Apache-2.0
// Reading numbers out of bytes that nobody vouches for.

/** The bytes are not what docs/format-flame.md asks for. Its message is a sentence for people. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

const MAX_NUMBER_BYTES = 10;
const decoder = new TextDecoder();

/** A part of the bytes, read from its beginning to its end. */
export class Stream {
  private readonly bytes: Uint8Array;
  private position: number;
  private readonly end: number;
  private readonly label: string;

  constructor(bytes: Uint8Array, start: number, end: number, label: string) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
    this.label = label;
  }

  get offset(): number {
    return this.position;
  }

  get nLeft(): number {
    return this.end - this.position;
  }

  fail(what: string): never {
    throw new FormatError(`This flame graph is damaged: ${what} (${this.label}, byte ${this.position}). Load it again.`);
  }

  /** An unsigned LEB128 number. Beyond 2^53 it is rounded. */
  number(): number {
    if (this.position >= this.end) this.fail("a part of it ends early");
    const byte = this.bytes[this.position++];
    return byte < 128 ? byte : this.longNumber(byte - 128);
  }

  private longNumber(low: number): number {
    let value = low;
    let scale = 128;
    for (let i = 1; i < MAX_NUMBER_BYTES; i++) {
      if (this.position >= this.end) this.fail("a part of it ends within a number");
      const byte = this.bytes[this.position++];
      if (i === MAX_NUMBER_BYTES - 1 && byte > 1) break;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    return this.fail("a number is too long");
  }

  /** n numbers of at most `limit`, which is below 2^32. A loop of its own, since there are a million of them. */
  numbers(n: number, limit: number, what: string): Uint32Array {
    const { bytes, end } = this;
    const into = new Uint32Array(n);
    let at = this.position;
    for (let i = 0; i < n; i++) {
      let value = at < end ? bytes[at] : 128;
      if (value < 128) at++;
      else {
        this.position = at;
        value = this.number();
        at = this.position;
      }
      if (value > limit) this.fail(`${what} is ${value}, at most ${limit} is possible`);
      into[i] = value;
    }
    this.position = at;
    return into;
  }

  /** A zigzag-coded number: 0, -1, 1, -2 are 0, 1, 2, 3. */
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A number of at most `limit`. */
  numberTo(limit: number, what: string): number {
    const value = this.number();
    if (value > limit) this.fail(`${what} is ${value}, at most ${limit} is possible`);
    return value;
  }

  /** Its length, and UTF-8; what is not UTF-8 becomes replacement characters. */
  text(): string {
    const length = this.numberTo(this.nLeft, "the length of a text");
    this.position += length;
    return decoder.decode(this.bytes.subarray(this.position - length, this.position));
  }

  /** The next `length` bytes as a stream of their own. */
  part(length: number, label: string): Stream {
    if (length > this.nLeft) this.fail(`${label} would be ${length} bytes long, ${this.nLeft} are left`);
    this.position += length;
    return new Stream(this.bytes, this.position - length, this.position, label);
  }

  finish(): void {
    if (this.position !== this.end) this.fail(`${this.end - this.position} bytes are left over`);
  }
}
