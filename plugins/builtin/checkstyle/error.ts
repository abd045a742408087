/**
 * One error, as the format calls whatever a linter found.
 */

import { Members, Value, isObject, says } from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, writeCategory } from "../../sdk/assemblyscript/mapping";
import {
  beginFinding, beginSkipped, endFinding, endSkipped, fail, failed, refuse, sentence
} from "../../sdk/assemblyscript/result";
import { writeFile } from "../../sdk/assemblyscript/file";
import { lineOf } from "./line";
import { attribute, failElement, isAttributeOrText } from "./shape";
import { group, name, readSource } from "./source";

const member = changetype<Members>(memory.data(offsetof<Members>()));

/** Writes the error at `value`, where `path` is, as a finding of `file`, or fails. */
export function normalizeError(file: Value, value: Value): void {
  if (!isObject(value)) {
    refuse("checkstyle-invalid", "", "an error", "an element", value);
    return;
  }
  let line: Value = 0;
  let severity: Value = 0;
  let message: Value = 0;
  let source: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("@line")) line = member.value;
    else if (member.is("@severity")) severity = member.value;
    else if (member.is("@message")) message = member.value;
    else if (member.is("@source")) source = member.value;
    else if (!isAttributeOrText(member)) failElement(member);
  }
  const grave = severityOf(severity);
  message = attribute(message, "an error's message");
  source = attribute(source, "an error's source");
  if (!message && !source) {
    fail("checkstyle-invalid", "", sentence("the error has neither a message nor a source"), "", value);
  }
  const number = lineOf(attribute(line, "an error's line"));
  if (failed()) return;

  if (!grave.length) {
    beginSkipped().text("severity-ignore");
    endSkipped();
    return;
  }
  readSource(source);
  let category = categoryOfRule(source);
  if (!category) category = categoryOfRule(name);
  if (!category) category = categoryOfTag(group);
  if (!category) category = categoryOfSeverity(severity);

  const finding = beginFinding();
  writeCategory(finding, category, source);
  finding.text(',"severity":').text(grave);
  writeFile(finding, file);
  finding.text(',"line":');
  if (number) finding.number(number);
  else finding.text("null");
  finding.text(',"remediation":"');
  if (name) finding.inside(name);
  if (name && message) finding.text(": ");
  if (message) finding.inside(message);
  finding.text('"');
  endFinding();
}

/** The severity as findings write it, in quotes; empty where the error is to be ignored. Others fail. */
function severityOf(severity: Value): string {
  if (says(severity, "warning")) return '"risk"';
  if (says(severity, "error")) return '"fail"';
  // Checkstyle has no style; hadolint has.
  if (says(severity, "info") || says(severity, "style")) return '"nit"';
  if (!says(severity, "ignore")) {
    refuse(
      "checkstyle-invalid-severity", severity ? "/@severity" : "",
      "the severity", "error, warning, info, style or ignore", severity
    );
  }
  return "";
}
