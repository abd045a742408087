/**
 * A walk over the invocations of a run, or of a conversion, which has only one.
 *
 *     startInvocations(invocations);
 *     while (nextInvocation()) check(invocation, invocationIndex);
 *
 * There is one walk at a time. It keeps `path` at the invocation, and ends where
 * something failed.
 */

import { Elements, Value, isArray } from "../../sdk/assemblyscript/cursor";
import { failed, path } from "../../sdk/assemblyscript/result";

const all = changetype<Elements>(memory.data(offsetof<Elements>()));

/** The current invocation, and its index. */
export let invocation: Value = 0;
export let invocationIndex: i32 = -1;

let several: bool = false;
let outside: i32 = 0;

/** Starts a walk over `value`, an array of invocations, one that is not in an array, or 0, where `path` is around it. */
export function startInvocations(value: Value): void {
  several = isArray(value);
  if (several) all.of(value);
  invocation = several ? 0 : value;
  invocationIndex = -1;
  outside = path.length;
}

/** Goes to the next invocation, or returns false after the last. */
export function nextInvocation(): bool {
  path.truncate(outside);
  if (failed()) return false;
  if (several) {
    if (!all.next()) return false;
    invocation = all.value;
    path.text("/invocations/").number(all.index);
  } else {
    if (!invocation || invocationIndex == 0) return false;
    path.text("/invocation");
  }
  invocationIndex++;
  return true;
}
