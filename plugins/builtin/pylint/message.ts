/**
 * One message: a finding, or Pylint's word that it suppressed one.
 */

import {
  Members, Value, isAbsent, isBlank, isFilledString, isObject, isString, says, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, writeCategory } from "../../sdk/assemblyscript/mapping";
import {
  beginFinding, beginSkipped, endFinding, endSkipped, failed, refuse
} from "../../sdk/assemblyscript/result";
import { writeFile } from "../../sdk/assemblyscript/file";
import { count } from "./statistics";
import { Type, severityOf, typeOf } from "./type";

/** The members of a message that matter. The format `json` spells the id its own way. */
@unmanaged
class Message {
  type: Value;
  module: Value;
  line: Value;
  path: Value;
  symbol: Value;
  text: Value;
  id: Value;

  read(message: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Message>());
    for (member.of(message); member.next(); ) {
      if (member.is("type")) this.type = member.value;
      else if (member.is("module")) this.module = member.value;
      else if (member.is("line")) this.line = member.value;
      else if (member.is("path")) this.path = member.value;
      else if (member.is("symbol")) this.symbol = member.value;
      else if (member.is("message")) this.text = member.value;
      else if (member.is("messageId") || member.is("message-id")) this.id = member.value;
    }
  }
}

const message = changetype<Message>(memory.data(offsetof<Message>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));

/** Writes the message at `value`, where `path` is, or fails. */
export function normalizeMessage(value: Value): void {
  if (!isObject(value)) {
    refuse("pylint-invalid", "", "a message", "an object", value);
    return;
  }
  message.read(value);
  const type = typeOf(message.type);
  if (!isFilledString(message.symbol)) {
    refuse("pylint-invalid", "", "symbol", "a string that isn't empty", message.symbol);
  }
  if (!isString(message.text)) refuse("pylint-invalid", "", "message", "a string", message.text);
  const id = optionalString(message.id, "the message's id");
  const module = optionalString(message.module, "module");
  const file = optionalString(message.path, "path");
  const line = lineOf(message.line);
  if (failed()) return;

  // Pylint lists what comments in the source have suppressed, if it is asked to.
  const suppressed = type == Type.INFO && says(message.symbol, "suppressed-message");
  count(type, !suppressed);
  if (suppressed) {
    const skipped = beginSkipped().text("suppressed");
    if (isFilledString(message.text)) skipped.text(": ").inside(message.text);
    endSkipped();
    return;
  }

  let category = categoryOfRule(message.symbol);
  if (!category) category = categoryOfRule(id);
  if (!category) category = categoryOfTag(module);
  if (!category) category = categoryOfSeverity(message.type);

  const finding = beginFinding();
  writeCategory(finding, category, message.symbol);
  finding.text(',"severity":').text(severityOf(type));
  writeFile(finding, file);
  finding.text(',"line":').valueOr(line, "null").text(',"remediation":"').inside(message.symbol);
  if (isFilledString(message.text)) finding.text(": ").inside(message.text);
  finding.text('"');
  endFinding();
}

/** The string, or 0 where it is missing, null or empty; anything else fails. */
function optionalString(value: Value, name: string): Value {
  if (isBlank(value)) return 0;
  if (!isString(value)) refuse("pylint-invalid", "", name, "a string or null", value);
  return value;
}

/** The line; 0 where there is none, for which Pylint may write 0. */
function lineOf(value: Value): Value {
  if (isAbsent(value)) return 0;
  const line = wholeNumber(value);
  if (line < 0) {
    refuse("pylint-invalid-line", "/line", "the line", "a whole number from 0 to 2147483647 in plain digits", value);
  }
  return line > 0 ? value : 0;
}
