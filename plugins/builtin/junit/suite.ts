/**
 * Suites: what they hold, and whether that is what they counted.
 */

import { Elements, Members, Value, firstOf, isObject } from "../../sdk/assemblyscript/cursor";
import { fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { cases, failures, flaky, normalizeCase, skips } from "./case";
import { digits } from "../../sdk/assemblyscript/number";
import { findings, readProblem, writeReason } from "./problem";
import { attribute, elements, failElement, isIncidental } from "./shape";

/** How deep suites may be nested below the root: as deep as the described items reach. */
export const NESTED = 5;

/** The root's comments; 0 if there are none. */
export let comments: Value = 0;

const member = changetype<Members>(memory.data(offsetof<Members>()));
/** The first suite that counts tests which it does not list: where it is, the count, and the number of its test cases. */
const missingAt = changetype<Writer>(memory.data(offsetof<Writer>()));
let missingCount: Value = 0;
let missingCases: i64 = 0;

const testcase = changetype<Elements>(memory.data(offsetof<Elements>()));
/** A walker for each level. */
const nested = memory.data(offsetof<Elements>() * NESTED);

/**
 * Normalizes the suite or root at `value`, where `path` is, or fails. `file` is the
 * file of the suite around it, or 0. Returns how many tests it counts of which
 * neither it nor a suite in it says what became of them.
 */
export function normalizeSuite(value: Value, depth: i32, file: Value): i64 {
  if (!isObject(value)) {
    refuse("junit-invalid", "", "a suite", "an element", value);
    return 0;
  }
  let name: Value = 0;
  let ownFile: Value = 0;
  let testCount: Value = 0;
  let failureCount: Value = 0;
  let errorCount: Value = 0;
  let skippedCount: Value = 0;
  let suites: Value = 0;
  let testcases: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("testcase")) testcases = elements(member);
    else if (member.is("testsuite")) suites = elements(member);
    else if (member.is("@name")) name = attribute(member);
    else if (member.is("@file")) ownFile = attribute(member);
    else if (member.is("@tests")) testCount = count(member);
    else if (member.is("@failures")) failureCount = count(member);
    else if (member.is("@errors")) errorCount = count(member);
    else if (member.is("@skipped")) skippedCount = attribute(member);
    else if (member.is("failure") || member.is("error")) failSuite(elements(member));
    else if (member.is("#text")) failText(member.value);
    else if (!depth && member.is("#comment")) comments = elements(member);
    else if (!isIncidental(member)) failElement(member);
    if (failed()) return 0;
  }
  if (ownFile) file = ownFile;

  const outside = path.length;
  const casesBefore = cases;
  const failuresBefore = failures;
  const skipsBefore = skips;
  const flakyBefore = flaky;
  const complete = !missingCount;
  let missing: i64 = 0;
  if (testcases) {
    for (testcase.of(testcases); testcase.next(); ) {
      path.text("/testcase/").number(testcase.index);
      normalizeCase(testcase.value, name, file);
      if (failed()) return 0;
      path.truncate(outside);
    }
  }
  if (suites) {
    if (depth == NESTED) {
      fail("junit-too-deep", "/testsuite", sentence("suites are nested more than ").number(NESTED).text(" deep"), "", 0);
      return 0;
    }
    const suite = changetype<Elements>(nested + <usize>depth * offsetof<Elements>());
    for (suite.of(suites); suite.next(); ) {
      path.text("/testsuite/").number(suite.index);
      missing += normalizeSuite(suite.value, depth + 1, file);
      if (failed()) return 0;
      path.truncate(outside);
    }
  }
  const reruns = flaky - flakyBefore;
  checkFailures(failureCount, errorCount, failures - failuresBefore, reruns);
  const own = cases - casesBefore;
  const unlisted = countOf(testCount, "tests") - own - reruns;
  if (unlisted > missing) {
    missing = unlisted;
    if (!missingCount) {
      missingAt.truncate(0);
      missingAt.writer(path);
      missingCount = testCount;
      missingCases = own;
    }
  }
  // A skipped test may be counted and not be listed.
  if (skippedCount) missing -= max<i64>(digits(skippedCount) - (skips - skipsBefore), 0);
  if (missing > 0) return missing;
  if (complete) missingCount = 0;
  return 0;
}

/** Refuses a report without findings some of whose tests are missing. Where there are findings, it is not clean anyway. */
export function checkMissing(): void {
  if (failed() || findings || !missingCount) return;
  path.truncate(0);
  path.writer(missingAt);
  fail(
    "junit-contradiction", "/@tests",
    sentence("the suite counts ").inside(missingCount).text(" tests, but the number of its test cases is ").number(<u32>missingCases),
    "run the tests again; if the runner counts what it does not list, as pytest-subtests does with subtests that pass, leave the report out and have verify run the tests",
    missingCount
  );
}

/** Text between elements is none of a report's, but may be a runner's last words. */
function failText(text: Value): void {
  fail("junit-invalid", "", sentence("there is text between the elements: ").excerpt(text), "", text);
}

/** A suite that failed outside of its test cases may have run none of them, and has no item to be a finding. */
function failSuite(problems: Value): void {
  readProblem(firstOf(problems));
  const message = sentence("a suite failed outside of its test cases: ");
  if (!writeReason(message)) message.text("it does not say why");
  fail("junit-suite-failed", "", message, "find out why the suite failed and run it again", 0);
}

/**
 * Refuses a suite that counts failures or errors, more than there were failed runs
 * of tests that passed in the end, if no test case in it failed. In which of the two
 * counts a failure belongs depends on the producer.
 */
function checkFailures(failureTotal: Value, errorTotal: Value, failureCount: i64, reruns: i64): void {
  const failuresSaid = max<i64>(countOf(failureTotal, "failures"), 0);
  const errorsSaid = max<i64>(countOf(errorTotal, "errors"), 0);
  if (failureCount || failuresSaid + errorsSaid <= reruns) return;
  fail(
    "junit-contradiction", failuresSaid ? "/@failures" : "/@errors",
    sentence("the suite counts ").number(<u32>failuresSaid).text(" failures and ").number(<u32>errorsSaid)
      .text(" errors, but no test case in it failed"),
    "", failuresSaid ? failureTotal : errorTotal
  );
}

/** The attribute that a member holds. An empty count is no count, but not one that is left out either. */
function count(member: Members): Value {
  const value = attribute(member);
  return value ? value : member.value;
}

/** A count; -1 where it is left out. Anything but a number fails. */
function countOf(attribute: Value, name: string): i64 {
  if (!attribute) return -1;
  const count = digits(attribute);
  if (count < 0) refuse("junit-invalid", "", name, "a whole number in plain digits", attribute);
  return count;
}
