/**
 * One diagnostic: the message type that `rdjson` and `rdjsonl` have in common.
 *
 * Both are the JSON of a protocol buffer, whose readers accept a field's name
 * as it is declared and in camel case, and null for a field that is left out.
 */

import {
  Members, Value, endOf, find, isAbsent, isFilledString, isObject, isString, says, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, isOwn, writeCategory } from "../../sdk/assemblyscript/mapping";
import { beginFinding, endFinding, failed, refuse } from "../../sdk/assemblyscript/result";
import { invalid, invalidLine } from "./codes";
import { writeFile } from "../../sdk/assemblyscript/file";
import { Severity, nameOf, quoted, severityOf } from "./severity";
import { optionalObject, optionalString } from "./shape";

/** The members of a diagnostic that matter. */
@unmanaged
class Diagnostic {
  message: Value;
  location: Value;
  severity: Value;
  source: Value;
  code: Value;
  originalOutput: Value;

  read(diagnostic: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Diagnostic>());
    for (member.of(diagnostic); member.next(); ) {
      if (member.is("message")) this.message = member.value;
      else if (member.is("location")) this.location = member.value;
      else if (member.is("severity")) this.severity = member.value;
      else if (member.is("source")) this.source = member.value;
      else if (member.is("code")) this.code = member.value;
      else if (member.is("original_output") || member.is("originalOutput")) this.originalOutput = member.value;
    }
  }
}

const diagnostic = changetype<Diagnostic>(memory.data(offsetof<Diagnostic>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));

/** The name of a source, which may be left out; 0 if there is none. */
export function nameOfSource(source: Value): Value {
  const name = optionalString(find(optionalObject(source, "source"), "name"), "the source's name");
  if (says(name, "audit")) refuse(invalid(), "/source/name", "the source's name", "another name than audit, which is Switchyard's own", name);
  return name;
}

/**
 * Writes the diagnostic at `value`, where `path` is, or fails. `usualSource`
 * and `usualSeverity` are those of a diagnostic that has none of its own.
 */
export function normalizeDiagnostic(value: Value, usualSource: Value, usualSeverity: Severity): void {
  if (!isObject(value)) {
    refuse(invalid(), "", "a diagnostic", "an object", value);
    return;
  }
  diagnostic.read(value);
  let source = nameOfSource(diagnostic.source);
  if (!source) source = usualSource;
  let severity = severityOf(diagnostic.severity);
  if (severity == Severity.UNKNOWN) severity = usualSeverity;
  const rule = optionalString(find(optionalObject(diagnostic.code, "code"), "value"), "the code's value");
  const location = optionalObject(diagnostic.location, "location");
  const file = optionalString(find(location, "path"), "path");
  const range = optionalObject(find(location, "range"), "range");
  const line = lineOf(find(optionalObject(find(range, "start"), "start"), "line"));
  let text = optionalString(diagnostic.message, "message");
  if (!text) text = optionalString(diagnostic.originalOutput, "original_output");
  if (!text) refuse(invalid(), "", "a diagnostic's message", "a string that isn't empty", diagnostic.message);
  if (failed()) return;

  const own = isOwn(source);
  let category = categoryOfRule(rule);
  if (!category && own) category = rule;
  if (!category) category = categoryOfTag(source);
  if (!category) category = categoryOfSeverity(nameOf(severity));

  const finding = beginFinding();
  if (source) finding.text('"critic":').value(source).text(",");
  writeCategory(finding, category, rule);
  finding.text(',"severity":').text(quoted(severity));
  writeFile(finding, file);
  finding.text(',"line":');
  if (line) finding.number(line);
  else finding.text("null");
  finding.text(',"remediation":"');
  if (rule && !own) finding.inside(rule).text(": ");
  finding.inside(text).text('"');
  endFinding();
}

/**
 * The line; 0, which the format takes for none, where it is left out. A number
 * of a protocol buffer may also be written as a string.
 */
function lineOf(value: Value): i32 {
  if (isAbsent(value)) return 0;
  const line = isString(value) ? quotedNumber(value) : wholeNumber(value);
  if (line < 0) {
    refuse(invalidLine(), "", "the line", "a whole number from 0 to 2147483647 in plain digits", value);
  }
  return line;
}

/** The number that a string says in digits, or -1. */
function quotedNumber(value: Value): i32 {
  const end = endOf(value) - 1;
  if (!isFilledString(value) || end - value > 11) return -1;
  let number: u64 = 0;
  for (let at = value + 1; at < end; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number <= <u64>i32.MAX_VALUE ? <i32>number : -1;
}
