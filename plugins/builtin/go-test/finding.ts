/**
 * A failed test, package or build as a finding.
 */

import { Value, isFilledString } from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, writeCategory } from "../../sdk/assemblyscript/mapping";
import { beginFinding, endFinding } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { Output, fileAt, fileStop, lineNumber } from "./output";
import { begins } from "../../sdk/assemblyscript/text";

/** How many findings there are. */
export let findings = 0;

const word = changetype<Writer>(memory.data(offsetof<Writer>()));
const severity = changetype<Writer>(memory.data(offsetof<Writer>()));

/**
 * Writes the event at `path` as a finding. `rule` says what failed: a test, a
 * package or a build. `test` may be 0; `otherwise` is what to say where nothing
 * was printed.
 */
export function writeFinding(rule: string, subject: Value, test: Value, output: Output, otherwise: string): void {
  word.truncate(0);
  severity.truncate(0);
  const ruleName = word.text('"').text(rule).text('"').start;
  let category = categoryOfRule(ruleName);
  if (!category) category = categoryOfTag(subject);
  if (!category) category = categoryOfSeverity(severity.text('"fail"').start);

  const finding = beginFinding();
  // A test that fails is a verify-mismatch: to follow the default needs no note.
  writeCategory(finding, category, 0);
  output.locate();
  finding.text(',"severity":"fail","file":');
  if (fileAt) {
    const from = begins(fileAt, fileStop - 1, "./") ? fileAt + 2 : fileAt;
    finding.text('"').bytes(from, fileStop - from).text('","line":').number(lineNumber);
  } else {
    finding.text('null,"line":null');
  }
  finding.text(',"remediation":"');
  if (isFilledString(subject)) finding.inside(subject);
  if (isFilledString(subject) && test) finding.text(".");
  if (test) finding.inside(test);
  finding.text(": ");
  if (!output.write(finding)) finding.text(otherwise);
  finding.text('"');
  endFinding();
  findings++;
}
