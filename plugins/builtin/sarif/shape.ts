/**
 * Optional parts of a log, which may have the wrong type.
 *
 * Each function returns the value, or 0 where it is missing or null. A value of
 * another type makes the guest fail at `path`, with a message that calls it
 * `name`, and counts as missing from there on.
 */

import {
  Value, endOf, isAbsent, isArray, isBlank, isObject, isString, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { refuse } from "../../sdk/assemblyscript/result";

export function optionalObject(value: Value, name: string): Value {
  if (isAbsent(value)) return 0;
  if (isObject(value)) return value;
  refuse("sarif-invalid", "", name, "an object", value);
  return 0;
}

export function optionalArray(value: Value, name: string): Value {
  if (isAbsent(value)) return 0;
  if (isArray(value)) return value;
  refuse("sarif-invalid", "", name, "an array", value);
  return 0;
}

/** An empty string counts as missing, too. */
export function optionalString(value: Value, name: string): Value {
  if (isBlank(value)) return 0;
  if (isString(value)) return value;
  refuse("sarif-invalid", "", name, "a string", value);
  return 0;
}

/** The place in an array that a log refers to; -1, SARIF's own word for none, where it is missing. */
export function optionalIndex(value: Value, name: string): i32 {
  if (isAbsent(value)) return -1;
  const index = wholeNumber(value);
  if (index < 0 && !isMinusOne(value)) {
    refuse("sarif-invalid", "", name, "an index or -1", value);
  }
  return index;
}

function isMinusOne(value: Value): bool {
  return load<u16>(value) == 0x312d && endOf(value) == value + 2;
}
