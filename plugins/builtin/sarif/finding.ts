/**
 * One result: a finding, or a reason why it isn't one.
 */

import {
  Elements, Members, Value, endOf, find, firstOf, isAbsent, isFilledString, isObject, isString, remember, says
} from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, isOwn, writeCategory } from "../../sdk/assemblyscript/mapping";
import {
  beginFinding, beginSkipped, endFinding, endSkipped, failed, refuse
} from "../../sdk/assemblyscript/result";
import { textOf, writeText } from "./message";
import { overriddenLevel } from "./overrides";
import { line, readPlace, writeFile } from "./place";
import { ruleId, ruleOf } from "./rules";
import { Level, categoryOfLevel, levelOf, severityOf } from "./severity";
import { optionalArray, optionalObject } from "./shape";
import { categoryOfTags } from "./tags";
import { Rule } from "./tool";

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
  relatedLocations: Value;
  suppressions: Value;
  baselineState: Value;
  fingerprints: Value;
  partialFingerprints: Value;
  provenance: Value;
  properties: Value;

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
      else if (member.is("relatedLocations")) this.relatedLocations = member.value;
      else if (member.is("suppressions")) this.suppressions = member.value;
      else if (member.is("baselineState")) this.baselineState = member.value;
      else if (member.is("fingerprints")) this.fingerprints = member.value;
      else if (member.is("partialFingerprints")) this.partialFingerprints = member.value;
      else if (member.is("provenance")) this.provenance = member.value;
      else if (member.is("properties")) this.properties = member.value;
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
  const end = endOf(value);
  judge(critic);
  remember(value, end);
}

function judge(critic: Value): void {
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
  const rule = ruleOf(result.rule, result.ruleId, result.ruleIndex);
  const described: Value = rule ? rule.id : 0;
  const id = ruleId ? ruleId : described;
  const level = effectiveLevel(rule);
  const own = isOwn(critic);
  const category = categoryOf(rule, id, level, own);
  // Of a rule that results go below, the rule is what should be mapped.
  let unmapped = described ? described : id;
  if (rule && !category) {
    if (rule.noted) unmapped = 0; // saves the look-up
    rule.noted = true;
  }
  readPlace(result.locations);
  checkRest();
  const text = textOf(result.message, rule);
  if (failed()) return;

  const finding = beginFinding().text('"critic":').value(critic).text(",");
  writeCategory(finding, category, unmapped);
  finding.text(',"severity":').text(severityOf(level)).text(',"file":');
  writeFile(finding);
  finding.text(',"line":').valueOr(line, "null").text(',"remediation":"');
  if (id && !(own && text)) finding.inside(id);
  if (id && text && !own) finding.text(": ");
  if (text) writeText(finding, text);
  finding.text('"');
  endFinding();
}

/** The result's level, else the one that its rule has in its invocation, else the rule's default, else warning. */
function effectiveLevel(rule: Rule | null): Level {
  let level = levelOf(result.level);
  if (!level && rule) {
    level = overriddenLevel(rule, result.provenance);
    if (!level) level = rule.level;
  }
  return level ? level : Level.WARNING;
}

/** The category that the configuration gives the id or the rule that it belongs to, a tag, or the level. */
function categoryOf(rule: Rule | null, id: Value, level: Level, own: bool): Value {
  const tagged = categoryOfTags(result.properties);
  let category = categoryOfRule(id);
  if (!category && rule) category = rule.category;
  if (!category && own) category = id;
  if (!category) category = tagged;
  if (!category && rule) category = rule.tagged;
  return category ? category : categoryOfLevel(level);
}

/** Checks what a finding doesn't show: related locations are context, and fingerprints are the host's own. */
function checkRest(): void {
  optionalArray(result.relatedLocations, "relatedLocations");
  checkFingerprints(result.fingerprints, "fingerprints");
  checkFingerprints(result.partialFingerprints, "partialFingerprints");
}

function checkFingerprints(value: Value, name: string): void {
  const fingerprints = optionalObject(value, name);
  if (!fingerprints) return;
  for (member.of(fingerprints); member.next(); ) {
    if (!isString(member.value)) refuse("sarif-invalid", "", "a fingerprint", "a string", member.value);
  }
}
