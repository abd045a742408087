/**
 * One result: a finding, or a reason why it isn't one.
 */

import {
  Elements, Members, Value,
  find, firstOf, isAbsent, isFilledString, isObject, says, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import {
  beginFinding, beginSkipped, endFinding, endSkipped, failed, refuse
} from "../../sdk/assemblyscript/result";
import { categoryOf } from "./config";
import { hasRule, ruleIdAt, ruleIndexOf, severityAt } from "./rules";
import { Severity, quoted, severityOf } from "./severity";
import { optionalArray, optionalObject, optionalString } from "./shape";

/** The members of a result that matter. */
@unmanaged
class Result {
  ruleId: Value;
  ruleIndex: Value;
  rule: Value;
  kind: Value;
  level: Value;
  message: Value;
  locations: Value;
  suppressions: Value;
  baselineState: Value;

  read(result: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Result>());
    for (member.of(result); member.next(); ) {
      if (member.is("ruleId")) this.ruleId = member.value;
      else if (member.is("ruleIndex")) this.ruleIndex = member.value;
      else if (member.is("rule")) this.rule = member.value;
      else if (member.is("kind")) this.kind = member.value;
      else if (member.is("level")) this.level = member.value;
      else if (member.is("message")) this.message = member.value;
      else if (member.is("locations")) this.locations = member.value;
      else if (member.is("suppressions")) this.suppressions = member.value;
      else if (member.is("baselineState")) this.baselineState = member.value;
    }
  }
}

const result = changetype<Result>(memory.data(offsetof<Result>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const suppression = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Writes the result at `value`, where `path` is, or fails. */
export function normalizeResult(critic: Value, value: Value): void {
  if (!isObject(value)) {
    refuse("sarif-invalid", "", "a result", "an object", value);
    return;
  }
  result.read(value);
  const harmless = says(result.kind, "pass") || says(result.kind, "notApplicable") || says(result.kind, "informational");
  if (harmless && !isAbsent(result.level) && !says(result.level, "none")) {
    // Is it a finding or not? The result says both, so even a suppression can't settle it.
    refuse("sarif-invalid", "", "the level of a result of this kind", "none", result.level);
    return;
  }
  if (isSuppressed()) return;
  if (harmless) {
    beginSkipped().text("kind-").inside(result.kind);
    endSkipped();
    return;
  }
  if (says(result.baselineState, "absent")) {
    beginSkipped().text("baseline-absent");
    endSkipped();
    return;
  }
  writeFinding(critic);
}

/**
 * Whether people have decided to live with the result; if so it is skipped.
 * Every suppression must say so beyond doubt: one that is rejected or still
 * under review keeps the result open, and so does anything that SARIF doesn't
 * know, or an earlier draft's `state`.
 */
function isSuppressed(): bool {
  if (!firstOf(result.suppressions)) return false;
  let justification: Value = 0;
  for (suppression.of(result.suppressions); suppression.next(); ) {
    const kind = find(suppression.value, "kind");
    if (!says(kind, "inSource") && !says(kind, "external")) return false;
    const status = find(suppression.value, "status");
    if (status && !says(status, "accepted")) return false;
    if (find(suppression.value, "state")) return false;
    const text = find(suppression.value, "justification");
    if (!justification && isFilledString(text)) justification = text;
  }
  const skipped = beginSkipped().text("suppressed");
  if (justification) skipped.text(": ").inside(justification);
  endSkipped();
  return true;
}

function writeFinding(critic: Value): void {
  // Which rule? An index that leads nowhere says nothing.
  const reference = optionalObject(result.rule, "rule");
  let index = wholeNumber(result.ruleIndex);
  // The index of a reference into another component, a plug-in of the tool,
  // counts that component's rules.
  if (!hasRule(index) && isAbsent(find(reference, "toolComponent"))) index = wholeNumber(find(reference, "index"));
  let ruleId = optionalString(result.ruleId, "ruleId");
  if (!ruleId) ruleId = optionalString(find(reference, "id"), "id");
  if (!ruleId && hasRule(index)) ruleId = ruleIdAt(index);

  let severity = severityOf(result.level);
  if (severity == Severity.UNSAID) {
    if (!hasRule(index) && ruleId) index = ruleIndexOf(ruleId);
    if (hasRule(index)) severity = severityAt(index);
  }

  // Where? The first location counts.
  const location = optionalObject(firstOf(optionalArray(result.locations, "locations")), "location");
  const place = optionalObject(find(location, "physicalLocation"), "physicalLocation");
  const artifact = optionalObject(find(place, "artifactLocation"), "artifactLocation");
  const uri = optionalString(find(artifact, "uri"), "uri");
  const line = startLineOf(optionalObject(find(place, "region"), "region"));

  // What?
  const text = messageText();
  if (failed()) return;

  const finding = beginFinding()
    .text('"critic":').value(critic)
    .text(',"category":').valueOr(categoryOf(ruleId), '"lint-violation"')
    .text(',"severity":').text(quoted(severity))
    .text(',"file":').valueOr(uri, "null")
    .text(',"line":').valueOr(line, "null")
    .text(',"remediation":"');
  if (ruleId) finding.inside(ruleId);
  if (ruleId && text) finding.text(": ");
  if (text) finding.inside(text);
  finding.text('"');
  endFinding();
}

function startLineOf(region: Value): Value {
  const line = find(region, "startLine");
  if (isAbsent(line)) return 0;
  if (wholeNumber(line) < 1) {
    refuse("sarif-invalid-line", "", "startLine", "a whole number from 1 to 2147483647 in plain digits", line);
  }
  return line;
}

/** The message: its text, else its Markdown, else the id of a text that the tool keeps elsewhere. */
function messageText(): Value {
  const message = optionalObject(result.message, "message");
  const text = optionalString(find(message, "text"), "text");
  if (text) return text;
  const markdown = optionalString(find(message, "markdown"), "markdown");
  return markdown ? markdown : optionalString(find(message, "id"), "id");
}
