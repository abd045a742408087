/**
 * One file: what was found in it, and whether that is what ESLint counted.
 */

import {
  Elements, Members, Value, isAbsent, isArray, isFilledString, isObject, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { Severity, normalizeMessage, skipSuppressed } from "./message";

/** The members of a file that matter. */
@unmanaged
class LintedFile {
  filePath: Value;
  messages: Value;
  suppressedMessages: Value;
  errorCount: Value;
  fatalErrorCount: Value;
  warningCount: Value;

  read(file: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<LintedFile>());
    for (member.of(file); member.next(); ) {
      if (member.is("filePath")) this.filePath = member.value;
      else if (member.is("messages")) this.messages = member.value;
      else if (member.is("suppressedMessages")) this.suppressedMessages = member.value;
      else if (member.is("errorCount")) this.errorCount = member.value;
      else if (member.is("fatalErrorCount")) this.fatalErrorCount = member.value;
      else if (member.is("warningCount")) this.warningCount = member.value;
    }
  }
}

const file = changetype<LintedFile>(memory.data(offsetof<LintedFile>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const message = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Normalizes the file at `value`, where `path` is, or fails. */
export function normalizeFile(value: Value): void {
  if (!isObject(value)) {
    refuse("eslint-invalid", "", "a file", "an object", value);
    return;
  }
  file.read(value);
  if (!isFilledString(file.filePath)) {
    refuse("eslint-invalid", "", "filePath", "a string that isn't empty", file.filePath);
  }
  if (!isArray(file.messages)) refuse("eslint-invalid", "", "messages", "an array", file.messages);
  // Versions before 8.8 don't have it.
  if (!isAbsent(file.suppressedMessages) && !isArray(file.suppressedMessages)) {
    refuse("eslint-invalid", "", "suppressedMessages", "an array", file.suppressedMessages);
  }
  if (failed()) return;

  const outside = path.length;
  let warnings = 0;
  let errors = 0;
  let fatals = 0;
  for (message.of(file.messages); message.next(); ) {
    path.text("/messages/").number(message.index);
    const severity = normalizeMessage(file.filePath, message.value);
    if (failed()) return;
    if (severity == Severity.WARNING) warnings++;
    else errors++;
    if (severity == Severity.FATAL) fatals++;
    path.truncate(outside);
  }
  if (!isAbsent(file.suppressedMessages)) {
    for (message.of(file.suppressedMessages); message.next(); ) {
      path.text("/suppressedMessages/").number(message.index);
      skipSuppressed(message.value);
      if (failed()) return;
      path.truncate(outside);
    }
  }
  checkCount("errorCount", file.errorCount, errors);
  checkCount("warningCount", file.warningCount, warnings);
  // Versions before 7.32 don't have it.
  if (!isAbsent(file.fatalErrorCount)) checkCount("fatalErrorCount", file.fatalErrorCount, fatals);
}

function checkCount(name: string, count: Value, seen: i32): void {
  const number = wholeNumber(count);
  if (number < 0) {
    refuse("eslint-invalid", "", name, "a whole number", count);
  } else if (number != seen) {
    fail(
      "eslint-count-contradiction", "",
      sentence("the file's ").text(name).text(" is ").number(number)
        .text(", but the number of such messages is ").number(seen),
      "", count
    );
  }
}
