/**
 * Explicit findings.
 */

import {
  Members, Value, isAbsent, isBlank, isFilledString, isObject, isString, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { beginFinding, endFinding, refuse } from "../../sdk/assemblyscript/result";

/** What a line and a round must be. */
export const POSITIVE = "a whole number from 1 to 2147483647 in plain digits";

const member = changetype<Members>(memory.data(offsetof<Members>()));

/** Writes the finding at `value`, where `path` is, or fails. */
export function normalizeFinding(critic: Value, value: Value): void {
  if (!isObject(value)) {
    refuse("critic-output-malformed-finding", "", "a finding", "an object", value);
    return;
  }
  let category: Value = 0;
  let severity: Value = 0;
  let file: Value = 0;
  let line: Value = 0;
  let remediation: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("category")) category = member.value;
    else if (member.is("severity")) severity = member.value;
    else if (member.is("file")) file = member.value;
    else if (member.is("line")) line = member.value;
    else if (member.is("remediation")) remediation = member.value;
  }
  // A finding without a category is still a finding: the policy sends one
  // that it doesn't know to a human.
  if (!isFilledString(category)) category = 0;
  severity = stringOr(severity, "critic-output-invalid-severity", "severity");
  file = stringOr(file, "critic-output-invalid-file", "file");
  line = checkLine(line);
  remediation = stringOr(remediation, "critic-output-invalid-remediation", "remediation");

  beginFinding()
    .text('"critic":').value(critic)
    .text(',"category":').valueOr(category, '"unknown"')
    .text(',"severity":').valueOr(severity, '"fail"')
    .text(',"file":').valueOr(file, "null")
    .text(',"line":').valueOr(line, "null")
    .text(',"remediation":').valueOr(remediation, '""');
  endFinding();
}

/** The string, or 0 where it is missing, null or empty; anything else fails. */
function stringOr(value: Value, code: string, name: string): Value {
  if (isBlank(value)) return 0;
  if (!isString(value)) refuse(code, "", name, "a string or null", value);
  return value;
}

/** The line, or 0 where it is missing or null; anything but a line number fails. */
function checkLine(value: Value): Value {
  if (isAbsent(value)) return 0;
  if (wholeNumber(value) < 1) refuse("critic-output-invalid-line", "", "line", POSITIVE, value);
  return value;
}
