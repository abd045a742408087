/**
 * How grave a diagnostic is: an enumeration, written as a name or a number.
 */

import { Value, isAbsent, isString, says, wholeNumber } from "../../sdk/assemblyscript/cursor";
import { refuse } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { invalidSeverity } from "./codes";

/** The numbers are the format's own. */
export enum Severity { UNKNOWN, ERROR, WARNING, INFO }

const name = changetype<Writer>(memory.data(offsetof<Writer>()));

/** The severity; UNKNOWN where it is left out. Anything but one of the four fails. */
export function severityOf(value: Value): Severity {
  if (isAbsent(value)) return Severity.UNKNOWN;
  if (isString(value)) {
    if (says(value, "ERROR")) return Severity.ERROR;
    if (says(value, "WARNING")) return Severity.WARNING;
    if (says(value, "INFO")) return Severity.INFO;
    if (says(value, "UNKNOWN_SEVERITY")) return Severity.UNKNOWN;
  } else {
    const number = wholeNumber(value);
    if (<u32>number <= <u32>Severity.INFO) return number;
  }
  refuse(invalidSeverity(), "", "the severity", "ERROR, WARNING, INFO or UNKNOWN_SEVERITY", value);
  return Severity.UNKNOWN;
}

/** The severity as findings write it, in quotes. What nobody has judged may be grave. */
export function quoted(severity: Severity): string {
  return severity == Severity.WARNING ? '"risk"' : severity == Severity.INFO ? '"nit"' : '"fail"';
}

/** The severity's name as the format writes it, until the next call. */
export function nameOf(severity: Severity): Value {
  name.truncate(0);
  switch (severity) {
    case Severity.ERROR: return name.text('"ERROR"').start;
    case Severity.WARNING: return name.text('"WARNING"').start;
    case Severity.INFO: return name.text('"INFO"').start;
    default: return name.text('"UNKNOWN_SEVERITY"').start;
  }
}
