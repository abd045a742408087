/**
 * Where a JSON token ends: the only code that looks at every byte of a report.
 *
 * The host has validated the report, so these functions look for ends and for
 * nothing else. They take 16 or 64 bytes a step, for two reasons: reports are
 * megabytes, and a host that can interrupt a guest at a deadline pays for it
 * at each iteration of each loop. All of them read past the end of the text,
 * into the slack that every block of memory.ts has.
 */

// @ts-ignore: decorator
@inline export const QUOTE: u8 = 0x22;
// @ts-ignore: decorator
@inline const BACKSLASH: u8 = 0x5c;

/** The first byte at or after `at` that isn't white space. */
// @ts-ignore: decorator
@inline
export function blank(at: usize): usize {
  return load<u8>(at) > 0x20 ? at : blankRun(at);
}

function blankRun(at: usize): usize {
  // One space after a colon or comma is by far the most common run.
  if (load<u8>(at + 1) > 0x20) return at + 1;
  while (true) {
    const solid = i8x16.bitmask(i8x16.gt_u(v128.load(at), i8x16.splat(0x20)));
    if (solid) return at + ctz(solid);
    at += 16;
  }
}

/** The first quote or backslash at or after `at`. */
export function stringStop(at: usize): usize {
  // Most keys and many texts end here: no loop, nothing for the host to interrupt.
  let hits = stops(at);
  if (!hits) {
    do {
      at += 16;
      hits = stops(at);
    } while (!hits);
  }
  return at + ctz(hits);
}

// @ts-ignore: decorator
@inline
function stops(at: usize): i32 {
  const chunk = v128.load(at);
  return i8x16.bitmask(v128.or(
    i8x16.eq(chunk, i8x16.splat(QUOTE)),
    i8x16.eq(chunk, i8x16.splat(BACKSLASH))
  ));
}

/** The end of the string whose opening quote is at `at`. */
export function stringEnd(at: usize): usize {
  at = stringStop(at + 1);
  if (load<u8>(at) != QUOTE) {
    do {
      at = stringStop(at + 2); // behind the backslash and what it escapes
    } while (load<u8>(at) != QUOTE);
  }
  return at + 1;
}

/** The end of the number, `true`, `false` or `null` at `at`. */
export function scalarEnd(at: usize): usize {
  while (true) {
    const chunk = v128.load(at);
    const hits = i8x16.bitmask(v128.or(
      i8x16.le_u(chunk, i8x16.splat(0x20)),
      v128.or(i8x16.eq(chunk, i8x16.splat(0x2c /* , */)), brackets(chunk, 0x7d))
    ));
    if (hits) return at + ctz(hits);
    at += 16;
  }
}

/**
 * The end of the object or array whose opening bracket is at `at`.
 *
 * Depth costs no stack: each step takes 64 bytes, works out which of them lie
 * inside strings, and counts the brackets outside. Only a block with enough
 * closing brackets to reach the end is looked at bracket by bracket. How to
 * find escaped quotes and the insides of strings in a bit mask is due to
 * Langdale and Lemire, "Parsing gigabytes of JSON per second" (2019).
 */
export function containerEnd(at: usize): usize {
  let depth: i32 = 0;
  let escape: u64 = 0; // 1: the last block ended in a backslash that escapes
  let inside: u64 = 0; // all ones: the last block ended inside a string
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);

    let backslashes = where(a, b, c, d, BACKSLASH);
    let escaped = escape;
    escape = 0;
    if (backslashes) {
      // Of a run of backslashes every second one is escaped by its neighbour.
      // Adding the start of each run that begins on an odd bit to the mask
      // carries through the run and tells at which parity it ends.
      const even: u64 = 0x5555555555555555;
      backslashes &= ~escaped;
      const follows = (backslashes << 1) | escaped;
      const oddStarts = backslashes & ~even & ~follows;
      const carried = oddStarts + backslashes;
      escape = u64(carried < backslashes);
      escaped = (even ^ (carried << 1)) & follows;
    }

    // Each bit becomes the parity of the quotes up to and including itself.
    let strings = where(a, b, c, d, QUOTE) & ~escaped;
    strings ^= strings << 1;
    strings ^= strings << 2;
    strings ^= strings << 4;
    strings ^= strings << 8;
    strings ^= strings << 16;
    strings ^= strings << 32;
    strings ^= inside;
    inside = <u64>(<i64>strings >> 63);

    const opens = join(brackets(a, 0x7b), brackets(b, 0x7b), brackets(c, 0x7b), brackets(d, 0x7b)) & ~strings;
    const closes = join(brackets(a, 0x7d), brackets(b, 0x7d), brackets(c, 0x7d), brackets(d, 0x7d)) & ~strings;
    if (<i32>popcnt(closes) >= depth) {
      let closed = 1;
      for (let rest = closes; rest; rest &= rest - 1, closed++) {
        const before = opens & ((rest & (0 - rest)) - 1);
        if (depth + <i32>popcnt(before) == closed) return at + <usize>ctz(rest) + 1;
      }
    }
    depth += <i32>popcnt(opens) - <i32>popcnt(closes);
    at += 64;
  }
}

/** Marks the bytes that are a curly bracket or, 0x20 below, its square brother. */
// @ts-ignore: decorator
@inline
function brackets(chunk: v128, curly: u8): v128 {
  return i8x16.eq(v128.or(chunk, i8x16.splat(0x20)), i8x16.splat(curly));
}

/** One bit for each of 64 bytes: is it `byte`? */
// @ts-ignore: decorator
@inline
function where(a: v128, b: v128, c: v128, d: v128, byte: u8): u64 {
  const wanted = i8x16.splat(byte);
  return join(i8x16.eq(a, wanted), i8x16.eq(b, wanted), i8x16.eq(c, wanted), i8x16.eq(d, wanted));
}

/** One bit for each of 64 byte marks. */
// @ts-ignore: decorator
@inline
function join(a: v128, b: v128, c: v128, d: v128): u64 {
  return <u64>i8x16.bitmask(a)
    | (<u64>i8x16.bitmask(b) << 16)
    | (<u64>i8x16.bitmask(c) << 32)
    | (<u64>i8x16.bitmask(d) << 48);
}
