/**
 * Explicit findings.
 */

import {
  Members, Value, isAbsent, isBlank, isFilledString, isObject, isString, says, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { beginFinding, endFinding, refuse } from "../../sdk/assemblyscript/result";
import { isId } from "./previous";

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
  let undoes: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("category")) category = member.value;
    else if (member.is("severity")) severity = member.value;
    else if (member.is("file")) file = member.value;
    else if (member.is("line")) line = member.value;
    else if (member.is("remediation")) remediation = member.value;
    else if (member.is("undoes")) undoes = member.value;
  }
  // A finding without a category is still a finding: the policy sends one
  // that it doesn't know to a human.
  if (!isFilledString(category)) category = 0;
  severity = stringOr(severity, "critic-output-invalid-severity", "severity");
  file = stringOr(file, "critic-output-invalid-file", "file");
  line = checkLine(line);
  remediation = stringOr(remediation, "critic-output-invalid-remediation", "remediation");
  undoes = checkUndoes(category, undoes);

  const finding = beginFinding()
    .text('"critic":').value(critic)
    .text(',"category":').valueOr(category, '"unknown"')
    .text(',"severity":').valueOr(severity, '"fail"')
    .text(',"file":').valueOr(file, "null")
    .text(',"line":').valueOr(line, "null")
    .text(',"remediation":').valueOr(remediation, '""');
  if (undoes) finding.text(',"undoes":').value(undoes);
  endFinding();
}

/** The string, or 0 where it is missing, null or empty; anything else fails. */
function stringOr(value: Value, code: string, name: string): Value {
  if (isBlank(value)) return 0;
  if (!isString(value)) refuse(code, "", name, "a string or null", value);
  return value;
}

/** The id of the finding that a contradiction asks to undo; 0 for any other finding. Anything else fails. */
function checkUndoes(category: Value, undoes: Value): Value {
  if (!says(category, "contradiction")) {
    if (isAbsent(undoes)) return 0;
    refuse("critic-output-invalid-undoes", "/undoes", "undoes of a finding that is not a contradiction", "left out", undoes);
  } else if (!isId(undoes)) {
    refuse(
      "critic-output-invalid-undoes", undoes ? "/undoes" : "", "undoes of a contradiction",
      "the 16 hexadecimal digits of the earlier finding", undoes
    );
  }
  return undoes;
}

/** The line, or 0 where it is missing or null; anything but a line number fails. */
function checkLine(value: Value): Value {
  if (isAbsent(value)) return 0;
  if (wholeNumber(value) < 1) refuse("critic-output-invalid-line", "", "line", POSITIVE, value);
  return value;
}
