/**
 * One message: a finding, or one that was suppressed.
 */

import {
  Elements, Members, Value,
  find, firstOf, isAbsent, isArray, isBlank, isBoolean, isFalse, isFilledString, isObject, isString, says, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, writeCategory } from "../../sdk/assemblyscript/mapping";
import {
  beginFinding, beginSkipped, endFinding, endSkipped, failed, refuse
} from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { writeFile } from "../../sdk/assemblyscript/file";
import { pluginOf } from "./plugin";

/** The first two numbers are ESLint's own. It counts what is fatal among the errors, too. */
export enum Severity { INVALID, WARNING, ERROR, FATAL }

/** The members of a message that matter. */
@unmanaged
class Message {
  ruleId: Value;
  severity: Value;
  fatal: Value;
  text: Value;
  line: Value;

  read(message: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Message>());
    for (member.of(message); member.next(); ) {
      if (member.is("ruleId")) this.ruleId = member.value;
      else if (member.is("severity")) this.severity = member.value;
      else if (member.is("fatal")) this.fatal = member.value;
      else if (member.is("message")) this.text = member.value;
      else if (member.is("line")) this.line = member.value;
    }
  }
}

const message = changetype<Message>(memory.data(offsetof<Message>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const suppression = changetype<Elements>(memory.data(offsetof<Elements>()));
const word = changetype<Writer>(memory.data(offsetof<Writer>()));

/** Writes the message at `value`, where `path` is, or fails. Returns its severity. */
export function normalizeMessage(filePath: Value, value: Value): Severity {
  if (!isObject(value)) {
    invalid("a message", "an object", value);
    return Severity.INVALID;
  }
  message.read(value);
  const severity = severityOf();
  const rule: Value = isBlank(message.ruleId) ? 0 : message.ruleId;
  if (rule && !isString(rule)) invalid("ruleId", "a string or null", rule);
  if (!isFilledString(message.text)) invalid("message", "a string that isn't empty", message.text);
  const line = lineOf(message.line);
  if (failed()) return Severity.INVALID;

  let category = categoryOfRule(rule);
  if (!category && rule) category = categoryOfTag(pluginOf(rule));
  if (!category) category = categoryOfSeverity(nameOf(severity));

  const finding = beginFinding();
  writeCategory(finding, category, rule);
  finding.text(severity == Severity.WARNING ? ',"severity":"risk"' : ',"severity":"fail"');
  writeFile(finding, filePath);
  finding.text(',"line":').valueOr(line, "null").text(',"remediation":"');
  if (rule) finding.inside(rule).text(": ");
  finding.inside(message.text).text('"');
  endFinding();
  return severity;
}

/**
 * Skips the message at `value`, where `path` is, with what people said for
 * it, or fails. Each suppression must be one of the kinds that ESLint has: a
 * directive in the file, or an entry in the file of suppressions.
 */
export function skipSuppressed(value: Value): void {
  if (!isObject(value)) {
    invalid("a suppressed message", "an object", value);
    return;
  }
  const suppressions = find(value, "suppressions");
  if (!isArray(suppressions) || !firstOf(suppressions)) {
    invalid("a suppressed message's suppressions", "an array of at least one", suppressions);
    return;
  }
  let justification: Value = 0;
  for (suppression.of(suppressions); suppression.next(); ) {
    const kind = find(suppression.value, "kind");
    if (!says(kind, "directive") && !says(kind, "file")) {
      invalid("a suppression's kind", "directive or file", kind);
      return;
    }
    const text = find(suppression.value, "justification");
    if (!justification && isFilledString(text)) justification = text;
  }
  const skipped = beginSkipped().text("suppressed");
  if (justification) skipped.text(": ").inside(justification);
  endSkipped();
}

/** The severity of the message at hand; anything but ESLint's two fails. */
function severityOf(): Severity {
  const fatal = message.fatal;
  if (!isAbsent(fatal) && !isBoolean(fatal)) invalid("fatal", "true or false", fatal);
  const severity = wholeNumber(message.severity);
  if (severity != Severity.WARNING && severity != Severity.ERROR) {
    refuse("eslint-invalid-severity", "", "the severity", "1 or 2", message.severity);
    return Severity.INVALID;
  }
  return isBoolean(fatal) && !isFalse(fatal) ? Severity.FATAL : severity;
}

/** The severity's name as ESLint's other formatters write it, until the next call. */
function nameOf(severity: Severity): Value {
  word.truncate(0);
  return word.text(severity == Severity.WARNING ? '"warning"' : '"error"').start;
}

/** The line; 0 where there is none, for which ESLint may write 0. */
function lineOf(value: Value): Value {
  if (isAbsent(value)) return 0;
  const line = wholeNumber(value);
  if (line < 0) {
    refuse("eslint-invalid-line", "", "the line", "a whole number from 0 to 2147483647 in plain digits", value);
  }
  return line > 0 ? value : 0;
}

function invalid(name: string, wanted: string, found: Value): void {
  refuse("eslint-invalid", "", name, wanted, found);
}
