/**
 * What the format doesn't have, and what it has for a linter that failed.
 */

import { Members, Value, find, firstOf, isBlank, isString, readText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { fail, refuse, sentence } from "../../sdk/assemblyscript/result";

/** Whether a member of an element is no element. */
export function isAttributeOrText(member: Members): bool {
  readText(member.key);
  const first = textLength ? load<u8>(textAt) : 0;
  return first == 0x40 || first == 0x23; // @ and #
}

/** Refuses what a member holds: an element, or text where only elements are, as a tool's last words may be. */
export function failElement(member: Members): void {
  if (member.is("#text")) {
    fail("checkstyle-invalid", "", sentence("there is text between the elements: ").excerpt(member.value), "", member.value);
    return;
  }
  fail(
    "checkstyle-invalid", "",
    sentence("a checkstyle report has no element ").excerpt(member.key).text(" here"), "", 0
  );
}

/** Refuses the report of a tool that says it failed. */
export function failTool(exceptions: Value): void {
  fail(
    "checkstyle-tool-failed", "/exception",
    sentence("the linter reports that it failed: ").excerpt(find(firstOf(exceptions), "#text")),
    "find out why the linter failed and run it again", 0
  );
}

/** An attribute; 0 where it is left out or empty. Anything but a string fails. */
export function attribute(value: Value, name: string): Value {
  if (isBlank(value)) return 0;
  if (!isString(value)) refuse("checkstyle-invalid", "", name, "a string", value);
  return value;
}
