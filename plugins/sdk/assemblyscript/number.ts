/**
 * Numbers as XML has them, in strings.
 */

import { Value, readText, textAt, textLength } from "./cursor";

/** The number from 0 to 2147483647 that a string spells in plain digits; -1 if it doesn't. */
export function digits(string: Value): i32 {
  readText(string);
  if (textLength < 1 || textLength > 10) return -1;
  let number: u64 = 0;
  for (let i = 0; i < textLength; i++) {
    const digit = <u32>load<u8>(textAt + i) - 0x30;
    if (digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number <= <u64>i32.MAX_VALUE ? <i32>number : -1;
}
