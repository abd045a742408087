/**
 * A table from names to values, for look-ups that happen once a finding.
 */

import { alloc } from "./memory";
import { Value, lowBytes, readText, sameBytes, textAt, textLength } from "./cursor";

/**
 * A leaf of the tree: the address and length of a name, then its value. A fork
 * is as large: the bit by which the names below it differ first, then where
 * those are that have it clear, and those that have it set. The address of a
 * fork is marked by its lowest bit.
 */
const NODE: usize = 12;

/** A name takes a leaf and, unless it is the first, a fork. */
const PAIR: usize = NODE * 2;

/** How many names one block has room for: at first, and at most where it was not told. */
const FEW: u32 = 8;
const MANY: u32 = 4096;

/**
 * Maps the text of JSON strings, escapes decoded, to values. It is a tree that
 * looks at one bit of the name a step, and only at those that tell names apart.
 * A hash table would take fewer steps, but its function would be known, and
 * whoever names rules or tests could choose thousands that collide; here no look-up
 * takes more steps than the name has bits. Declared in static memory like
 * {@link Members}.
 */
@unmanaged
export class NameTable {
  private root: usize;
  private free: usize;
  private end: usize;
  /** How many names the last block had room for. */
  private room: u32;

  /** Empties the table and makes room for `count` names. */
  reset(count: i32): void {
    this.root = 0;
    if (this.end - this.free < <usize>count * PAIR) this.extend(count);
  }

  /**
   * Adds a name, whose text must stay where it is. The first value given for a
   * name stays.
   */
  add(name: Value, value: Value): void {
    readText(name);
    let bit: u32 = 0;
    if (this.root) {
      const nearest = this.nearest(textAt, textLength);
      bit = difference(load<u32>(nearest), load<i32>(nearest, 4), textAt, textLength);
      if (bit == SAME) return;
    }
    if (this.end - this.free < PAIR) this.extend(min(max(this.room << 1, FEW), MANY));
    const leaf = this.free;
    this.free += NODE;
    store<u32>(leaf, textAt);
    store<i32>(leaf, textLength, 4);
    store<u32>(leaf, value, 8);
    if (this.root) this.insert(leaf, bit);
    else this.root = leaf;
  }

  private extend(count: u32): void {
    this.room = count;
    this.free = alloc(<usize>count * PAIR);
    this.end = this.free + <usize>count * PAIR;
  }

  /** Forks the way to a leaf, above all forks whose bits come later. */
  private insert(leaf: usize, bit: u32): void {
    let from = changetype<usize>(this) + offsetof<NameTable>("root");
    let node = this.root;
    while (node & 1 && load<u32>(node - 1) < bit) {
      from = side(node, textAt, textLength);
      node = load<u32>(from);
    }
    const fork = this.free | 1;
    this.free += NODE;
    store<u32>(fork - 1, bit);
    const own = side(fork, textAt, textLength);
    store<u32>(fork + 3, node);
    store<u32>(fork + 7, node);
    store<u32>(own, leaf);
    store<u32>(from, fork);
  }

  /** The value of a name, or 0. */
  get(name: Value): Value {
    if (!this.root) return 0;
    readText(name);
    return this.getText(textAt, textLength);
  }

  /** The value of the name that these bytes spell, or 0. */
  getText(at: usize, length: i32): Value {
    if (!this.root) return 0;
    const leaf = this.nearest(at, length);
    if (load<i32>(leaf, 4) != length || !sameBytes(load<u32>(leaf), at, length)) return 0;
    return load<u32>(leaf, 8);
  }

  /** The leaf that has all the bits that were asked for; if the name is in the table, it is this. */
  private nearest(at: usize, length: i32): usize {
    let node = this.root;
    while (node & 1) node = load<u32>(side(node, at, length));
    return node;
  }
}

/** The bits of a name are those of its length, then those of its text. */
const LENGTH: u32 = 32;

/** No bit at all. */
const SAME: u32 = u32.MAX_VALUE;

/** Where a fork keeps the way that a name takes. What lies behind a name's end is clear. */
function side(fork: usize, at: usize, length: i32): usize {
  const bit = load<u32>(fork - 1);
  let set = length >>> bit & 1;
  if (bit >= LENGTH) {
    const index = <i32>((bit - LENGTH) >> 3);
    set = index < length ? <i32>load<u8>(at + index) >>> (bit & 7) & 1 : 0;
  }
  return fork + 3 + <usize>(set << 2);
}

/** The first bit by which two names differ. */
function difference(a: usize, aLength: i32, b: usize, bLength: i32): u32 {
  if (aLength != bLength) return ctz(aLength ^ bLength);
  for (let i = 0; i < aLength; i += 8) {
    let bits = load<u64>(a + i) ^ load<u64>(b + i);
    if (aLength - i < 8) bits &= lowBytes(aLength - i);
    if (bits) return LENGTH + (<u32>i << 3) + <u32>ctz(bits);
  }
  return SAME;
}
