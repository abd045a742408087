/**
 * A reader over validated JSON.
 *
 * There is no tree and no decoded copy: a value is the address of its first
 * byte in the report, and reading means walking. What a guest needs is found
 * by {@link Members}, {@link Elements} and {@link find}; what it passes on is
 * copied as raw text by the writer. Only text that contains escapes and must
 * be compared is ever decoded.
 */

import { alloc, allocSmall } from "./memory";
import { QUOTE, blank, containerEnd, scalarEnd, stringEnd, stringStop } from "./scan";

/** The address of a JSON value's first byte; 0 where there is no such value. */
export type Value = usize;

// ---------------------------------------------------------------- what it is

export function isObject(value: Value): bool {
  return value != 0 && load<u8>(value) == 0x7b;
}

export function isArray(value: Value): bool {
  return value != 0 && load<u8>(value) == 0x5b;
}

export function isString(value: Value): bool {
  return value != 0 && load<u8>(value) == 0x22;
}

/** Whether the value is missing or `null`: not given, in either spelling. */
export function isAbsent(value: Value): bool {
  return value == 0 || load<u8>(value) == 0x6e;
}

/** Whether the value is missing, `null` or `""`. */
export function isBlank(value: Value): bool {
  return isAbsent(value) || load<u16>(value) == 0x2222;
}

/** Whether the value is a string of at least one character. */
export function isFilledString(value: Value): bool {
  return isString(value) && load<u16>(value) != 0x2222;
}

export function isFalse(value: Value): bool {
  return value != 0 && load<u8>(value) == 0x66;
}

export function isBoolean(value: Value): bool {
  return value != 0 && (load<u8>(value) == 0x66 || load<u8>(value) == 0x74);
}

/** The JSON type of a value, as people call it. */
export function kindOf(value: Value): string {
  if (!value) return "missing";
  switch (load<u8>(value)) {
    case 0x7b: return "object";
    case 0x5b: return "array";
    case 0x22: return "string";
    case 0x6e: return "null";
    case 0x66:
    case 0x74: return "boolean";
    default: return "number";
  }
}

/**
 * A whole number from 0 to 2147483647, written in plain digits; -1 for anything
 * else. `1.0`, `1e3` and `-0` are numbers too, but where a line or a round is
 * meant they are a sign that something went wrong.
 */
export function wholeNumber(value: Value): i32 {
  if (!value) return -1;
  const length = endOf(value) - value;
  if (length > 10) return -1;
  let number: u64 = 0;
  let i: usize = 0;
  do {
    const digit = <u32>load<u8>(value + i) - 0x30;
    if (digit > 9) return -1;
    number = number * 10 + digit;
  } while (++i < length);
  return number <= <u64>i32.MAX_VALUE ? <i32>number : -1;
}

// ----------------------------------------------------------- where it ends

let lastValue: Value = 0;
let lastEnd: usize = 0;

/**
 * The first byte after the value.
 *
 * The answer is remembered for one container. An iterator that ran to its end
 * leaves its own there, so when the iterator around it goes on, it steps over
 * the container without looking at its bytes a second time. A string may be one
 * that a guest put together, and its place may hold another by now.
 */
export function endOf(value: Value): usize {
  if (value == lastValue) return lastEnd;
  const first = load<u8>(value);
  if (first == 0x22) return stringEnd(value);
  const end = (first | 0x20) == 0x7b ? containerEnd(value) : scalarEnd(value);
  remember(value, end);
  return end;
}

/**
 * Tells where a container ends. A function that has walked through one and has
 * done other things since spares its caller the same way again.
 */
export function remember(value: Value, end: usize): void {
  lastValue = value;
  lastEnd = end;
}

/** A copy of a value in a place of its own, for one that a guest put together. */
export function keep(value: Value): Value {
  const length = endOf(value) - value;
  const copy = alloc(length);
  memory.copy(copy, value, length);
  return copy;
}

/** The value of the document whose text is at `at`, which may begin with white space. */
export function document(at: usize): Value {
  return blank(at);
}

// ------------------------------------------------------------ what is in it

/**
 * Walks over an object's members.
 *
 * A walk needs a few bytes of state. Guests nest walks to a fixed depth, so
 * each gives every level its own walker in static memory, named at the top of
 * the file, instead of allocating one per object:
 *
 *     const member = changetype<Members>(memory.data(offsetof<Members>()));
 *
 *     for (member.of(finding); member.next(); ) {
 *       if (member.is("line")) line = member.value;
 *     }
 */
@unmanaged
export class Members {
  /** The current member's value. */
  value: Value;
  /** The current member's key, a JSON string in quotes. */
  key: Value;
  private object: Value;
  private name: usize;
  private nameLength: i32;

  /** Starts a walk over `object`, which must be one. */
  of(object: Value): void {
    this.object = object;
    this.value = 0;
  }

  /** Goes to the next member, or returns false after the last. */
  next(): bool {
    let at = blank(this.value ? endOf(this.value) : this.object + 1);
    if (load<u8>(at) == 0x2c) at = blank(at + 1);
    if (load<u8>(at) == 0x7d) {
      remember(this.object, at + 1);
      return false;
    }
    this.key = at;
    at = readText(at);
    this.name = textAt;
    this.nameLength = textLength;
    this.value = blank(blank(at) + 1);
    return true;
  }

  /** Whether the key, its escapes decoded, is `name`, which must be ASCII. */
  is(name: string): bool {
    return this.nameLength == name.length && isLiteral(this.name, this.nameLength, name);
  }
}

/** Walks over an array's elements. Used like {@link Members}. */
@unmanaged
export class Elements {
  /** The current element. */
  value: Value;
  /** Its position, from 0; after the walk, the number of elements less one. */
  index: i32;
  private array: Value;

  /** Starts a walk over `array`, which must be one. */
  of(array: Value): void {
    this.array = array;
    this.value = 0;
    this.index = -1;
  }

  /** Goes to the next element, or returns false after the last. */
  next(): bool {
    let at = blank(this.value ? endOf(this.value) : this.array + 1);
    if (load<u8>(at) == 0x2c) at = blank(at + 1);
    if (load<u8>(at) == 0x5d) {
      remember(this.array, at + 1);
      return false;
    }
    this.value = at;
    this.index++;
    return true;
  }
}

const seeker = changetype<Members>(memory.data(offsetof<Members>()));
const counter = changetype<Elements>(memory.data(offsetof<Elements>()));

/** The member called `name`; 0 if there is none, or if this is no object. */
export function find(object: Value, name: string): Value {
  if (isObject(object)) {
    for (seeker.of(object); seeker.next(); ) {
      if (seeker.is(name)) return seeker.value;
    }
  }
  return 0;
}

/** The first element; 0 if there is none, or if this is no array. */
export function firstOf(array: Value): Value {
  if (!isArray(array)) return 0;
  const at = blank(array + 1);
  return load<u8>(at) == 0x5d ? 0 : at;
}

/** The number of elements; 0 if this is no array. */
export function countOf(array: Value): i32 {
  if (!isArray(array)) return 0;
  counter.of(array);
  while (counter.next()) {}
  return counter.index + 1;
}

/** The number of members of an object, which this must be. */
export function countMembers(object: Value): i32 {
  let count = 0;
  for (seeker.of(object); seeker.next(); ) count++;
  return count;
}

// ------------------------------------------------------------- what it says

/** The text that {@link readText} found last. It stays valid for ever. */
export let textAt: usize = 0;
/** Its length in bytes. */
export let textLength: i32 = 0;

/**
 * Reads the string at `value` into {@link textAt} and {@link textLength} and
 * returns its end. The text is where it always was, in the report, unless it
 * contains an escape.
 */
export function readText(value: Value): usize {
  const stop = stringStop(value + 1);
  if (load<u8>(stop) == QUOTE) {
    textAt = value + 1;
    textLength = <i32>(stop - textAt);
    return stop + 1;
  }
  const end = stringEnd(value);
  decode(value + 1, end - 1);
  return end;
}

/** Whether the value is a string that says `literal`, which must be ASCII. */
export function says(value: Value, literal: string): bool {
  if (!isString(value)) return false;
  readText(value);
  return textLength == literal.length && isLiteral(textAt, textLength, literal);
}

/** Whether two strings say the same, however they are escaped. */
export function sameText(a: Value, b: Value): bool {
  // Mostly they are escaped in the same way, and then nothing needs decoding.
  const size = stringEnd(a) - a;
  if (stringEnd(b) - b == size && sameBytes(a, b, <i32>size)) return true;
  readText(a);
  const at = textAt;
  const length = textLength;
  readText(b);
  return length == textLength && sameBytes(at, textAt, length);
}

export function sameBytes(a: usize, b: usize, length: i32): bool {
  if (length >= 8) {
    do {
      if (load<u64>(a) != load<u64>(b)) return false;
      a += 8;
      b += 8;
      length -= 8;
    } while (length >= 8);
  }
  return !((load<u64>(a) ^ load<u64>(b)) & lowBytes(length));
}

/** A mask of the lowest 0 to 7 bytes of a word, the first ones in memory. */
// @ts-ignore: decorator
@inline
export function lowBytes(count: i32): u64 {
  return ((<u64>1) << (<u64>count << 3)) - 1;
}

/**
 * Compares text with a string literal where both lie: the literal is UTF-16 in
 * static memory, so eight bytes of text are widened to eight code units.
 * Nothing is allocated, and most keys take one step.
 */
function isLiteral(at: usize, length: i32, literal: string): bool {
  let units = changetype<usize>(literal);
  if (length > 8) {
    do {
      if (sameUnits(at, units) != 0xff) return false;
      at += 8;
      units += 16;
      length -= 8;
    } while (length > 8);
  }
  return !(~sameUnits(at, units) & ((1 << length) - 1));
}

/** One bit for each of eight bytes: is it the code unit that it should be? */
// @ts-ignore: decorator
@inline
function sameUnits(at: usize, units: usize): i32 {
  return i16x8.bitmask(i16x8.eq(v128.load_ext<u8>(at), v128.load(units)));
}

/** Decodes the inside of a string into memory of its own. */
function decode(from: usize, end: usize): void {
  const start = allocSmall(end - from); // decoding never makes text longer
  let to = start;
  while (from < end) {
    const byte = load<u8>(from);
    if (byte != 0x5c) {
      store<u8>(to++, byte);
      from++;
      continue;
    }
    const escape = load<u8>(from + 1);
    from += 2;
    switch (escape) {
      case 0x62: store<u8>(to++, 0x08); break; // b
      case 0x66: store<u8>(to++, 0x0c); break; // f
      case 0x6e: store<u8>(to++, 0x0a); break; // n
      case 0x72: store<u8>(to++, 0x0d); break; // r
      case 0x74: store<u8>(to++, 0x09); break; // t
      case 0x75: { // u
        let point = hex4(from);
        from += 4;
        if (point >> 10 == 0x36 && load<u16>(from) == 0x755c) {
          const low = hex4(from + 2);
          if (low >> 10 == 0x37) {
            point = 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
            from += 6;
          }
        }
        to = encode(to, point);
        break;
      }
      default: store<u8>(to++, escape); // a quote, a backslash or a slash
    }
  }
  textAt = start;
  textLength = <i32>(to - start);
}

function hex4(at: usize): u32 {
  let value: u32 = 0;
  for (let i: usize = 0; i < 4; i++) {
    const digit = <u32>load<u8>(at + i);
    value = value << 4 | (digit & 15) + (digit > 0x39 ? 9 : 0);
  }
  return value;
}

/**
 * Appends a code point as UTF-8. Half a surrogate pair, which JSON allows and
 * UTF-8 doesn't, is encoded like any other: two texts that differ in it shall
 * stay different, and decoded text is compared but not passed on as it is.
 */
function encode(to: usize, point: u32): usize {
  if (point < 0x80) {
    store<u8>(to, point);
    return to + 1;
  }
  if (point < 0x800) {
    store<u8>(to, 0xc0 | point >> 6);
    store<u8>(to, 0x80 | point & 63, 1);
    return to + 2;
  }
  if (point < 0x10000) {
    store<u8>(to, 0xe0 | point >> 12);
    store<u8>(to, 0x80 | point >> 6 & 63, 1);
    store<u8>(to, 0x80 | point & 63, 2);
    return to + 3;
  }
  store<u8>(to, 0xf0 | point >> 18);
  store<u8>(to, 0x80 | point >> 12 & 63, 1);
  store<u8>(to, 0x80 | point >> 6 & 63, 2);
  store<u8>(to, 0x80 | point & 63, 3);
  return to + 4;
}
