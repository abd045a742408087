/**
 * One file and its errors.
 */

import { Elements, Members, Value, isArray, isObject } from "../../sdk/assemblyscript/cursor";
import { failed, path, refuse } from "../../sdk/assemblyscript/result";
import { normalizeError } from "./error";
import { attribute, failElement, failTool, isAttributeOrText } from "./shape";

const member = changetype<Members>(memory.data(offsetof<Members>()));
const error = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Normalizes the file at `value`, where `path` is, or fails. */
export function normalizeFile(value: Value): void {
  if (!isObject(value)) {
    refuse("checkstyle-invalid", "", "a file", "an element", value);
    return;
  }
  let name: Value = 0;
  let errors: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("@name")) name = member.value;
    else if (member.is("error")) errors = member.value;
    else if (member.is("exception")) failTool(member.value);
    else if (member.is("#text") || !isAttributeOrText(member)) failElement(member);
    if (failed()) return;
  }
  // Some linters have errors that belong to no file, and leave the name out.
  name = attribute(name, "a file's name");
  if (errors && !isArray(errors)) refuse("checkstyle-invalid", "/error", "error", "an array of elements", errors);
  if (!errors || failed()) return;
  const outside = path.length;
  for (error.of(errors); error.next(); ) {
    path.text("/error/").number(error.index);
    normalizeError(name, error.value);
    if (failed()) return;
    path.truncate(outside);
  }
}
