/**
 * One report: what it must look like before a single finding is read.
 */

import {
  Elements, Members, Value,
  countMembers, firstOf, isAbsent, isArray, isBlank, isFalse, isObject, isString, sameText, says, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { about, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { POSITIVE, normalizeFinding } from "./finding";
import { normalizeCriterion } from "./criterion";
import { normalizePrevious, refuseEntry } from "./previous";

/** The task that the reports speak of; 0 as long as none names it. */
export let task: Value = 0;
/** The round that the reports speak of; 0 as long as none names it. */
export let round: Value = 0;

/** The members of a report that matter. */
@unmanaged
class Report {
  critic: Value;
  task: Value;
  round: Value;
  findings: Value;
  criteria: Value;
  previous: Value;
  verdict: Value;
  error: Value;
  blockersCount: Value;
  reportPath: Value;

  read(report: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Report>());
    for (member.of(report); member.next(); ) {
      if (member.is("critic")) this.critic = member.value;
      else if (member.is("task_id")) this.task = member.value;
      else if (member.is("round")) this.round = member.value;
      else if (member.is("findings")) this.findings = member.value;
      else if (member.is("criteria")) this.criteria = member.value;
      else if (member.is("previous")) this.previous = member.value;
      else if (member.is("verdict")) this.verdict = member.value;
      else if (member.is("error")) this.error = member.value;
      else if (member.is("blockers_count")) this.blockersCount = member.value;
      else if (member.is("report_path")) this.reportPath = member.value;
    }
  }
}

const report = changetype<Report>(memory.data(offsetof<Report>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const item = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Normalizes the report at `value`, where `path` is. Returns whether it was accepted. */
export function normalizeReport(value: Value): bool {
  about(0, -1);
  return isReport(value) && isIdentified() && normalizeItems(value);
}

/** The guards, in the order in which they are promised. */
function isReport(value: Value): bool {
  if (!isObject(value)) {
    return refuse("critic-output-not-an-object", "", "a critic's report", "an object", value);
  }
  report.read(value);
  const findings = report.findings;
  const criteria = report.criteria;

  if (report.blockersCount) return failEnvelope("/blockers_count", "blockers_count", report.blockersCount);
  if (report.reportPath) return failEnvelope("/report_path", "report_path", report.reportPath);
  if (!isAxis(report.critic)) {
    return refuse(
      "critic-output-unknown-axis", report.critic ? "/critic" : "",
      "the report's critic", "critic, style, tests, acceptance or economy", report.critic
    );
  }
  about(report.critic, -1);
  if (!isBlank(report.error) && !isFalse(report.error) && !isEmpty(report.error)) {
    return fail(
      "critic-output-failed", "/error",
      sentence("the critic says that it failed: ").excerpt(report.error),
      "find out why and run the critic again; error is null in the report of a whole review", report.error
    );
  }
  if (!isArray(findings) && !isArray(criteria)) {
    return fail(
      "critic-output-no-findings", "",
      sentence("neither findings nor criteria is an array: findings is ").excerpt(findings)
        .text(", criteria is ").excerpt(criteria),
      "a critic that found nothing writes an empty findings array", findings ? findings : criteria
    );
  }
  if (findings && !isArray(findings)) {
    return refuse("critic-output-findings-not-an-array", "/findings", "findings", "an array", findings);
  }
  if (criteria && !isArray(criteria)) {
    return refuse("critic-output-criteria-not-an-array", "/criteria", "criteria", "an array", criteria);
  }
  if (!isAbsent(report.previous) && !isArray(report.previous)) {
    return refuseEntry("/previous", "previous", "an array", report.previous);
  }
  if (!findings && !firstOf(criteria)) {
    return fail(
      "critic-output-empty-criteria", "/criteria",
      sentence("the report holds no findings array and an empty criteria array, so nothing was judged"),
      "a critic that found nothing writes an empty findings array", criteria
    );
  }
  return true;
}

function failEnvelope(where: string, key: string, found: Value): bool {
  return fail(
    "critic-output-is-envelope", where,
    sentence("this is the envelope that a critic returns, not the report that it wrote: it has the key ")
      .text(key),
    "give the file that the envelope's report_path names", found
  );
}

function isAxis(critic: Value): bool {
  return says(critic, "critic") || says(critic, "style") || says(critic, "tests")
    || says(critic, "acceptance") || says(critic, "economy");
}

/** Checks the task, the round and the verdict, and that reports agree on the first two. */
function isIdentified(): bool {
  if (!isAbsent(report.task)) {
    if (!isString(report.task)) {
      return refuse("critic-output-invalid-task-id", "/task_id", "task_id", "a string", report.task);
    }
    if (!task) task = report.task;
    if (!sameText(task, report.task)) {
      return failConflict("critic-output-task-conflict", "/task_id", "task_id", task, report.task);
    }
  }
  if (!isAbsent(report.round)) {
    const number = wholeNumber(report.round);
    if (number < 1) {
      return refuse("critic-output-invalid-round", "/round", "round", POSITIVE, report.round);
    }
    if (!round) round = report.round;
    if (number != wholeNumber(round)) {
      return failConflict("critic-output-round-conflict", "/round", "round", round, report.round);
    }
  }
  if (!isAbsent(report.verdict) && !says(report.verdict, "passed") && !says(report.verdict, "issues_found")) {
    return refuse("critic-output-unknown-verdict", "/verdict", "the verdict", "passed or issues_found", report.verdict);
  }
  return true;
}

function failConflict(code: string, where: string, key: string, first: Value, other: Value): bool {
  return fail(
    code, where,
    sentence("the reports of one file disagree on ").text(key)
      .text(": ").excerpt(first).text(" and ").excerpt(other),
    "", other
  );
}

/** Normalizes findings, criteria and what became of earlier findings, and checks what else the report says against them. */
function normalizeItems(value: Value): bool {
  const outside = path.length;
  let issues = 0;
  if (report.findings) {
    for (item.of(report.findings); item.next(); ) {
      path.text("/findings/").number(item.index);
      about(report.critic, item.index);
      normalizeFinding(report.critic, item.value);
      if (failed()) return false;
      issues++;
      path.truncate(outside);
    }
  }
  if (report.criteria) {
    for (item.of(report.criteria); item.next(); ) {
      path.text("/criteria/").number(item.index);
      about(report.critic, item.index);
      if (normalizeCriterion(report.critic, item.value, item.index)) issues++;
      if (failed()) return false;
      path.truncate(outside);
    }
  }
  if (!isAbsent(report.previous)) {
    for (item.of(report.previous); item.next(); ) {
      path.text("/previous/").number(item.index);
      about(report.critic, item.index);
      normalizePrevious(item.value);
      if (failed()) return false;
      path.truncate(outside);
    }
  }
  about(report.critic, -1);
  return agreesWith(issues) && (issues > 0 || holdsNothingElse(value));
}

/** Whether the verdict, where there is one, fits the number of issues. */
function agreesWith(issues: i32): bool {
  if (isAbsent(report.verdict) || says(report.verdict, issues ? "issues_found" : "passed")) return true;
  return fail(
    "critic-output-verdict-contradiction", "/verdict",
    sentence("the verdict is ").excerpt(report.verdict)
      .text(", but the number of findings and unsatisfied criteria is ").number(issues),
    "", report.verdict
  );
}

/**
 * Whether a report without issues has no array or object that is not read: a
 * critic may have given its findings another name, or put them into another report.
 */
function holdsNothingElse(value: Value): bool {
  for (member.of(value); member.next(); ) {
    if (!isArray(member.value) && !isObject(member.value) || isEmpty(member.value)) continue;
    if (member.is("findings") || member.is("criteria") || member.is("previous")) continue;
    path.token(member.key);
    return fail(
      "critic-output-unknown-member", "",
      sentence("the report has no findings, but its member ").excerpt(member.key).text(" is not part of a report and may hold some"),
      "write what the critic found into findings, and anything else as text", member.value
    );
  }
  return true;
}

/** Whether a value is an array or an object that holds nothing. */
function isEmpty(value: Value): bool {
  return isArray(value) ? !firstOf(value) : isObject(value) && !countMembers(value);
}
