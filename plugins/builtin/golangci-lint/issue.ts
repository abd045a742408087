/**
 * One issue.
 */

import {
  Members, Value,
  find, isAbsent, isBlank, isFilledString, isObject, isString, says, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, writeCategory } from "../../sdk/assemblyscript/mapping";
import { beginFinding, endFinding, failed, refuse } from "../../sdk/assemblyscript/result";
import { writeFile } from "../../sdk/assemblyscript/file";
import { codeOf } from "./code";

/** The members of an issue that matter. */
@unmanaged
class Issue {
  fromLinter: Value;
  text: Value;
  severity: Value;
  pos: Value;

  read(issue: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Issue>());
    for (member.of(issue); member.next(); ) {
      if (member.is("FromLinter")) this.fromLinter = member.value;
      else if (member.is("Text")) this.text = member.value;
      else if (member.is("Severity")) this.severity = member.value;
      else if (member.is("Pos")) this.pos = member.value;
    }
  }
}

const issue = changetype<Issue>(memory.data(offsetof<Issue>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));

/** Writes the issue at `value`, where `path` is, or fails. */
export function normalizeIssue(value: Value): void {
  if (!isObject(value)) {
    refuse("golangci-lint-invalid", "", "an issue", "an object", value);
    return;
  }
  issue.read(value);
  const linter = issue.fromLinter;
  if (!isFilledString(linter)) invalid("FromLinter", "a string that isn't empty", linter);
  if (!isString(issue.text)) invalid("Text", "a string", issue.text);
  if (!isBlank(issue.severity) && !isString(issue.severity)) invalid("Severity", "a string", issue.severity);
  if (!isAbsent(issue.pos) && !isObject(issue.pos)) invalid("Pos", "an object", issue.pos);
  if (failed()) return;
  const file = find(issue.pos, "Filename");
  if (!isBlank(file) && !isString(file)) invalid("Filename", "a string", file);
  const line = lineOf(find(issue.pos, "Line"));
  if (failed()) return;

  const code = codeOf(issue.text);
  const rule = code ? code : linter;
  let category = categoryOfRule(rule);
  if (!category) category = categoryOfTag(linter);
  if (!category && !isBlank(issue.severity)) category = categoryOfSeverity(issue.severity);

  const finding = beginFinding();
  writeCategory(finding, category, rule);
  finding.text(',"severity":').text(severityOf(issue.severity));
  writeFile(finding, isBlank(file) ? 0 : file);
  finding.text(',"line":').valueOr(line, "null").text(',"remediation":"');
  // A code is what the text begins with.
  if (!code) finding.inside(linter).text(": ");
  finding.inside(issue.text).text('"');
  endFinding();
}

function invalid(name: string, wanted: string, found: Value): void {
  refuse("golangci-lint-invalid", "", name, wanted, found);
}

/**
 * The severity as findings write it, in quotes. Most linters have none of
 * their own, and users may configure any word: what isn't known is grave.
 * `high`, `medium` and `low` are gosec's; even its low is a warning.
 */
function severityOf(word: Value): string {
  if (says(word, "warning") || says(word, "medium") || says(word, "low")) return '"risk"';
  return says(word, "info") ? '"nit"' : '"fail"';
}

/** The line; 0 where there is none, for which golangci-lint writes 0. */
function lineOf(value: Value): Value {
  if (isAbsent(value)) return 0;
  const line = wholeNumber(value);
  if (line < 0) {
    refuse("golangci-lint-invalid-line", "", "Line", "a whole number from 0 to 2147483647 in plain digits", value);
  }
  return line > 0 ? value : 0;
}
