/**
 * A table from names to values, for look-ups that happen once a finding.
 */

import { alloc } from "./memory";
import { Value, lowBytes, readText, sameBytes, textAt, textLength } from "./cursor";

/** One slot: the address and length of the name, then its value and hash. */
const SLOT: usize = 16;

/**
 * Maps the text of JSON strings, escapes decoded, to values. An open-addressed
 * hash table, at most half full, sized once. Declared in static memory like
 * {@link Members}.
 */
@unmanaged
export class NameTable {
  private slots: usize;
  private mask: u32;

  /** Empties the table and makes room for `count` names. */
  reset(count: i32): void {
    const size: u32 = 2 << (32 - clz(count));
    this.slots = alloc(<usize>size * SLOT);
    this.mask = size - 1;
  }

  /** Adds a name. The first value given for a name stays. */
  add(name: Value, value: Value): void {
    const slot = this.slotOf(name);
    if (load<u32>(slot)) return;
    store<u32>(slot, textAt);
    store<i32>(slot, textLength, 4);
    store<u32>(slot, value, 8);
    store<u32>(slot, hash(textAt, textLength), 12);
  }

  /** The value of a name, or 0. */
  get(name: Value): Value {
    return this.slots ? <Value>load<u32>(this.slotOf(name), 8) : 0;
  }

  /** The slot that holds the name, or the free one where it belongs. */
  private slotOf(name: Value): usize {
    readText(name);
    const code = hash(textAt, textLength);
    let index = code;
    while (true) {
      const slot = this.slots + <usize>(index & this.mask) * SLOT;
      const at = load<u32>(slot);
      if (!at) return slot;
      if (
        load<u32>(slot, 12) == code && load<i32>(slot, 4) == textLength &&
        sameBytes(at, textAt, textLength)
      ) return slot;
      index++;
    }
  }
}

/** Multiplies and folds, eight bytes a step. */
function hash(at: usize, length: i32): u32 {
  let code: u64 = length;
  for (let i = 0; i < length; i += 8) {
    let word = load<u64>(at + i);
    if (length - i < 8) word &= lowBytes(length - i);
    code = (code ^ word) * 0x9e3779b97f4a7c15;
    code ^= code >> 29;
  }
  return <u32>(code ^ code >> 32);
}
