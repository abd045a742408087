/**
 * The parts of an element, by what XML makes of them.
 */

import { Members, Value, isArray, isBlank, isString, readText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { fail, sentence } from "../../sdk/assemblyscript/result";

/** The attribute that a member holds; 0 where it is empty. Anything but a string fails. */
export function attribute(member: Members): Value {
  if (isBlank(member.value)) return 0;
  if (!isString(member.value)) invalid(member, " must be a string, but it is ");
  return member.value;
}

/** The elements that a member holds. Anything but an array fails. */
export function elements(member: Members): Value {
  if (!isArray(member.value)) invalid(member, " must be an array of elements, but it is ");
  return member.value;
}

function invalid(member: Members, wanted: string): void {
  fail("junit-invalid", "", sentence("").inside(member.key).text(wanted).excerpt(member.value), "", member.value);
}

/** Whether a member has nothing to do with how a test ended: other attributes, text, and what was printed. */
export function isIncidental(member: Members): bool {
  readText(member.key);
  const first = textLength ? load<u8>(textAt) : 0;
  return first == 0x40 || first == 0x23 // @ and #
    || member.is("properties") || member.is("system-out") || member.is("system-err");
}

/** Refuses the element that a member holds. */
export function failElement(member: Members): void {
  fail(
    "junit-invalid", "",
    sentence("there is an element ").excerpt(member.key).text(", which may say anything about the test"), "", 0
  );
}

/** Whether the text that was read last is a word, in upper or lower case. */
export function isWord(word: string): bool {
  if (textLength != word.length) return false;
  for (let i = 0; i < textLength; i++) {
    const byte = <u32>load<u8>(textAt + i);
    if ((byte - 0x41 < 26 ? byte | 0x20 : byte) != load<u16>(changetype<usize>(word) + (i << 1))) return false;
  }
  return true;
}
