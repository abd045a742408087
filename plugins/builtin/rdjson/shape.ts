/**
 * Optional fields. In the JSON of a protocol buffer, a field that is null, or
 * a string that is empty, is one that is left out.
 *
 * Each function returns the value, or 0 where it is left out. A value of
 * another type makes the guest fail at `path`, with a message that calls it
 * `name`, and counts as missing from there on.
 */

import { Value, isAbsent, isBlank, isObject, isString } from "../../sdk/assemblyscript/cursor";
import { refuse } from "../../sdk/assemblyscript/result";
import { invalid } from "./codes";

export function optionalObject(value: Value, name: string): Value {
  if (isAbsent(value)) return 0;
  if (isObject(value)) return value;
  refuse(invalid(), "", name, "an object", value);
  return 0;
}

export function optionalString(value: Value, name: string): Value {
  if (isBlank(value)) return 0;
  if (isString(value)) return value;
  refuse(invalid(), "", name, "a string", value);
  return 0;
}
