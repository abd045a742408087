/**
 * The lines of a text that is the inside of a JSON string, as they stand in the
 * report: escapes are stepped over and never decoded, so that a line can be
 * passed on as it is.
 */

import { Value, endOf } from "./cursor";
import { Writer } from "./writer";

/** Walks over a string's lines but for the blank ones. Used like {@link Elements}. */
@unmanaged
export class Lines {
  /** The current line, without the white space around it. */
  at: usize;
  stop: usize;
  private rest: usize;
  private end: usize;

  /** Starts a walk over the lines of `text`, a string. */
  of(text: Value): void {
    this.rest = text + 1;
    this.end = endOf(text) - 1;
  }

  /** Goes to the next line, or returns false after the last. */
  next(): bool {
    this.at = 0;
    let at = this.rest;
    while (at < this.end) {
      const first = load<u8>(at);
      const escape = first == 0x5c ? load<u8>(at, 1) : 0;
      if (escape == 0x6e || escape == 0x72) { // \n and \r
        at += 2;
        if (this.at) break;
        continue;
      }
      const length: usize = first != 0x5c ? 1 : escape == 0x75 ? 6 : 2;
      if (first != 0x20 && escape != 0x74) { // space and \t
        if (!this.at) this.at = at;
        this.stop = at + length;
      }
      at += length;
    }
    this.rest = at;
    return this.at != 0;
  }

  /** Whether the line begins with `literal`, which must be ASCII that needs no escape. */
  begins(literal: string): bool {
    return begins(this.at, this.stop, literal);
  }
}

/** Whether the text from `at` to `stop` begins with `literal`, which must be ASCII that needs no escape. */
export function begins(at: usize, stop: usize, literal: string): bool {
  const length = literal.length;
  if (stop - at < <usize>length) return false;
  const units = changetype<usize>(literal);
  for (let i: usize = 0; i < <usize>length; i++) {
    if (load<u8>(at + i) != load<u8>(units + (i << 1))) return false;
  }
  return true;
}

/** Appends text of at most about `limit` bytes, cut between two characters. */
export function writeClipped(out: Writer, at: usize, stop: usize, limit: usize): void {
  if (stop - at <= limit) {
    out.bytes(at, stop - at);
    return;
  }
  let end = at;
  while (end - at < limit) {
    const first = load<u8>(end);
    end += first != 0x5c ? 1 : load<u8>(end, 1) != 0x75 ? 2 : isHighSurrogate(end + 2) ? 12 : 6;
  }
  while ((load<u8>(end) & 0xc0) == 0x80) end++;
  out.bytes(at, end - at);
  if (end < stop) out.text("...");
}

/** Whether four hexadecimal digits are the first half of a pair, d800 to dbff. */
function isHighSurrogate(digits: usize): bool {
  const second = load<u8>(digits, 1) | 0x20;
  return (load<u8>(digits) | 0x20) == 0x64 && (second == 0x38 || second == 0x39 || second == 0x61 || second == 0x62);
}
