/**
 * Builds the guest's answer.
 */

import { alloc, regrow } from "./memory";
import { Value, endOf, readText, textAt, textLength } from "./cursor";

/** How much of a value {@link Writer.excerpt} shows. */
export const EXCERPT: usize = 200;

/**
 * A growing run of bytes. Its methods return the writer, so that a JSON text
 * reads from left to right:
 *
 *     out.text('{"line":').number(7).text('}')
 *
 * Declared in static memory like {@link Members}; it takes its first block
 * when it is first written to.
 */
@unmanaged
export class Writer {
  /** Where the bytes are. They move as the writer grows. */
  start: usize;
  private at: usize;
  private limit: usize;

  /** The number of bytes written. */
  get length(): i32 {
    return <i32>(this.at - this.start);
  }

  /** Drops what was written after the first `length` bytes. */
  truncate(length: i32): void {
    this.at = this.start + length;
  }

  /** Makes sure that `size` more bytes fit. */
  // @ts-ignore: decorator
  @inline
  private reserve(size: usize): void {
    if (this.limit - this.at < size) this.grow(size);
  }

  private grow(size: usize): void {
    const used = this.at - this.start;
    const room = this.limit - this.start;
    const wanted = max(max(<u64>room << 1, <u64>used + <u64>size), 2048);
    if (wanted > <u64>u32.MAX_VALUE) unreachable();
    this.start = room ? regrow(this.start, room, <usize>wanted) : alloc(<usize>wanted);
    this.at = this.start + used;
    this.limit = this.start + <usize>wanted;
  }

  /** Appends a literal, which must be ASCII. */
  text(literal: string): this {
    const length = literal.length;
    const units = changetype<usize>(literal);
    this.reserve(length);
    // Sixteen UTF-16 units become sixteen bytes. The last step may write some
    // too many, into the slack behind the block.
    narrow(units, this.at);
    if (length > 16) {
      let i = 16;
      do {
        narrow(units + (i << 1), this.at + i);
        i += 16;
      } while (i < length);
    }
    this.at += length;
    return this;
  }

  /** Appends a number in digits. */
  number(number: u32): this {
    this.reserve(10);
    const end = this.at + 10;
    let digit = end;
    do {
      store<u8>(--digit, 0x30 + number % 10);
      number /= 10;
    } while (number);
    memory.copy(this.at, digit, end - digit);
    this.at += end - digit;
    return this;
  }

  /** Appends `length` bytes as they stand. */
  bytes(from: usize, length: usize): this {
    this.reserve(length);
    memory.copy(this.at, from, length);
    this.at += length;
    return this;
  }

  /** Appends all that another writer holds. */
  writer(other: Writer): this {
    return this.bytes(other.start, other.length);
  }

  /** Appends a value as it stands in the report. */
  value(value: Value): this {
    return this.bytes(value, endOf(value) - value);
  }

  /** Appends a value as it stands or, where there is none, a literal. */
  valueOr(value: Value, literal: string): this {
    return value ? this.value(value) : this.text(literal);
  }

  /**
   * Appends the inside of a JSON string as it stands, without its quotes: for
   * joining strings, inside the quotes of another.
   */
  inside(string: Value): this {
    return this.bytes(string + 1, endOf(string) - string - 2);
  }

  /**
   * Appends a value's JSON text to a JSON string, so that people see it in a
   * sentence. At most {@link EXCERPT} bytes of it, cut between two characters.
   */
  excerpt(value: Value): this {
    if (!value) return this.text("missing");
    let end = endOf(value);
    if (end - value <= EXCERPT) return this.plain(value, end - value);
    end = value + EXCERPT;
    while ((load<u8>(end) & 0xc0) == 0x80) end--;
    return this.plain(value, end - value).text("...");
  }

  /**
   * Appends the text of a JSON string to a JSON Pointer that stands in a JSON
   * string, as a token of its own: `a/b` becomes `/a~1b`.
   */
  token(string: Value): this {
    this.text("/");
    readText(string);
    const end = textAt + textLength;
    for (let at = textAt; at < end; at++) {
      switch (load<u8>(at)) {
        case 0x7e: this.text("~0"); break;
        case 0x2f: this.text("~1"); break;
        case 0xed:
          // Half a surrogate pair is no UTF-8 and is shown as U+FFFD.
          if (load<u8>(at, 1) >= 0xa0) {
            this.text("\\ufffd");
            at += 2;
            break;
          }
        default: this.escape(at);
      }
    }
    return this;
  }

  /** Appends `length` bytes of text to a JSON string, with escapes where it needs them. */
  plain(from: usize, length: usize): this {
    for (const end = from + length; from < end; from++) this.escape(from);
    return this;
  }

  /** Appends the byte at `at`, with a backslash where a JSON string needs one. */
  private escape(at: usize): void {
    const byte = <u32>load<u8>(at);
    this.reserve(6);
    if (byte == 0x22 || byte == 0x5c) {
      store<u16>(this.at, byte << 8 | 0x5c);
      this.at += 2;
    } else if (byte < 0x20) {
      this.text("\\u00");
      store<u8>(this.at, 0x30 + (byte >> 4));
      const low = byte & 15;
      store<u8>(this.at, low + (low < 10 ? 0x30 : 0x57), 1);
      this.at += 2;
    } else {
      store<u8>(this.at, byte);
      this.at += 1;
    }
  }
}

// @ts-ignore: decorator
@inline
function narrow(from: usize, to: usize): void {
  v128.store(to, i8x16.narrow_i16x8_u(v128.load(from), v128.load(from, 16)));
}
