/**
 * What a report says became of the findings of the previous review.
 */

import { Members, Value, isObject, isString, readText, sameBytes, says, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { putPrevious } from "../../sdk/assemblyscript/previous";
import { fail, refuse, sentence } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";

/** How long an id is. */
const ID_LENGTH = 16;

/** The ids of the entries, one after the other. */
const ids = changetype<Writer>(memory.data(offsetof<Writer>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));

/** Writes the entry at `value`, where `path` is, or fails. */
export function normalizePrevious(value: Value): void {
  if (!isObject(value)) {
    refuseEntry("", "an entry of previous", "an object", value);
    return;
  }
  let id: Value = 0;
  let status: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("id")) id = member.value;
    else if (member.is("status")) status = member.value;
  }
  if (!says(status, "fixed") && !says(status, "open") && !says(status, "withdrawn") && !says(status, "induced")) {
    refuseEntry(status ? "/status" : "", "status", "fixed, open, withdrawn or induced", status);
    return;
  }
  if (!isId(id)) {
    refuseEntry(id ? "/id" : "", "id", "the 16 hexadecimal digits that stand before the finding in the prompt", id);
    return;
  }
  // isId has read the id.
  for (let at = 0; at < ids.length; at += ID_LENGTH) {
    if (sameBytes(ids.start + at, textAt, ID_LENGTH)) {
      fail("critic-output-duplicate-previous", "/id", sentence("previous names ").excerpt(id).text(" twice"), "", id);
      return;
    }
  }
  ids.bytes(textAt, ID_LENGTH);
  putPrevious(id, status);
}

/** Whether the value is the id of a finding. Its text is then where readText has left it. */
export function isId(value: Value): bool {
  if (!isString(value)) return false;
  readText(value);
  if (textLength != ID_LENGTH) return false;
  for (let at = textAt; at < textAt + ID_LENGTH; at++) {
    const digit = load<u8>(at);
    if (digit - 0x30 > 9 && digit - 0x61 > 5) return false;
  }
  return true;
}

/** Fails: `what` of an entry, or of the list, must be `wanted`. */
export function refuseEntry(where: string, what: string, wanted: string, found: Value): bool {
  return refuse("critic-output-invalid-previous", where, what, wanted, found);
}
