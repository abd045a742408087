/**
 * An error's line.
 */

import { Value } from "../../sdk/assemblyscript/cursor";
import { refuse } from "../../sdk/assemblyscript/result";
import { digits } from "../../sdk/assemblyscript/number";

/** The line; 0 where it is not given, for which linters write 0, too. Anything else fails. */
export function lineOf(attribute: Value): u32 {
  if (!attribute) return 0;
  const line = digits(attribute);
  if (line >= 0) return line;
  refuse(
    "checkstyle-invalid-line", "/@line",
    "the line", "a whole number from 0 to 2147483647 in plain digits", attribute
  );
  return 0;
}
