/**
 * A table from names to values, for look-ups that happen once a finding.
 */

import { alloc } from "./memory";
import { Value, lowBytes, readText, sameBytes, textAt, textLength } from "./cursor";

/** One slot: the address and length of the name, then its value and hash. */
const SLOT: usize = 16;

/**
 * Maps the text of JSON strings, escapes decoded, to values. An open-addressed
 * hash table, at most half full; it grows where {@link NameTable.reset} was told
 * too little, or nothing. Declared in static memory like {@link Members}.
 */
@unmanaged
export class NameTable {
  private slots: usize;
  private mask: u32;
  private used: u32;

  /** Empties the table and makes room for `count` names. */
  reset(count: i32): void {
    const size: u32 = 2 << (32 - clz(count));
    this.slots = alloc(<usize>size * SLOT);
    this.mask = size - 1;
    this.used = 0;
  }

  /**
   * Adds a name, whose text must stay where it is. The first value given for a
   * name stays.
   */
  add(name: Value, value: Value): void {
    if (!this.slots) this.reset(8);
    if (this.used << 1 > this.mask) this.grow();
    readText(name);
    const slot = this.slotOf(textAt, textLength);
    if (load<u32>(slot)) return;
    this.used++;
    store<u32>(slot, textAt);
    store<i32>(slot, textLength, 4);
    store<u32>(slot, value, 8);
    store<u32>(slot, hash(textAt, textLength), 12);
  }

  /** Moves to twice as many slots. All names differ, so a free slot is the right one. */
  private grow(): void {
    const from = this.slots;
    const end = from + (<usize>this.mask + 1) * SLOT;
    this.mask = this.mask << 1 | 1;
    this.slots = alloc((<usize>this.mask + 1) * SLOT);
    for (let old = from; old < end; old += SLOT) {
      if (!load<u32>(old)) continue;
      let index = load<u32>(old, 12);
      let slot: usize;
      do {
        slot = this.slots + <usize>(index++ & this.mask) * SLOT;
      } while (load<u32>(slot));
      memory.copy(slot, old, SLOT);
    }
  }

  /** The value of a name, or 0. */
  get(name: Value): Value {
    if (!this.used) return 0;
    readText(name);
    return this.getText(textAt, textLength);
  }

  /** The value of the name that these bytes spell, or 0. */
  getText(at: usize, length: i32): Value {
    return this.used ? <Value>load<u32>(this.slotOf(at, length), 8) : 0;
  }

  /** The slot that holds the name, or the free one where it belongs. */
  private slotOf(at: usize, length: i32): usize {
    const code = hash(at, length);
    let index = code;
    while (true) {
      const slot = this.slots + <usize>(index & this.mask) * SLOT;
      const known = load<u32>(slot);
      if (!known) return slot;
      if (
        load<u32>(slot, 12) == code && load<i32>(slot, 4) == length &&
        sameBytes(known, at, length)
      ) return slot;
      index++;
    }
  }
}

/** Multiplies and folds, eight bytes a step. */
function hash(at: usize, length: i32): u32 {
  let code: u64 = length;
  if (length >= 8) {
    do {
      code = (code ^ load<u64>(at)) * 0x9e3779b97f4a7c15;
      code ^= code >> 29;
      at += 8;
      length -= 8;
    } while (length >= 8);
  }
  code = (code ^ (load<u64>(at) & lowBytes(length))) * 0x9e3779b97f4a7c15;
  code ^= code >> 29;
  return <u32>(code ^ code >> 32);
}
