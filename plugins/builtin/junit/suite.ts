/**
 * Suites: what they hold, and whether that is what they counted.
 */

import { Elements, Members, Value, firstOf, isObject } from "../../sdk/assemblyscript/cursor";
import { fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { normalizeCase } from "./case";
import { digits } from "../../sdk/assemblyscript/number";
import { Outcome, readProblem, writeReason } from "./problem";
import { attribute, elements, failElement, isIncidental } from "./shape";

/** How deep suites may be nested below the root: as deep as the described items reach. */
export const NESTED = 5;

/** How many test cases there are so far. */
export let cases = 0;
/** How many of them failed. */
let failures = 0;
/** How many of them ended in an error. */
let errors = 0;

/** The root's comments; 0 if there are none. */
export let comments: Value = 0;

const member = changetype<Members>(memory.data(offsetof<Members>()));
const testcase = changetype<Elements>(memory.data(offsetof<Elements>()));
/** A walker for each level. */
const nested = memory.data(offsetof<Elements>() * NESTED);

/** Normalizes the suite or root at `value`, where `path` is, or fails. `file` is the file of the suite around it, or 0. */
export function normalizeSuite(value: Value, depth: i32, file: Value): void {
  if (!isObject(value)) {
    refuse("junit-invalid", "", "a suite", "an element", value);
    return;
  }
  let name: Value = 0;
  let ownFile: Value = 0;
  let testCount: Value = 0;
  let failureCount: Value = 0;
  let errorCount: Value = 0;
  let suites: Value = 0;
  let testcases: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("testcase")) testcases = elements(member);
    else if (member.is("testsuite")) suites = elements(member);
    else if (member.is("@name")) name = attribute(member);
    else if (member.is("@file")) ownFile = attribute(member);
    else if (member.is("@tests")) testCount = attribute(member);
    else if (member.is("@failures")) failureCount = attribute(member);
    else if (member.is("@errors")) errorCount = attribute(member);
    else if (member.is("failure") || member.is("error")) failSuite(elements(member));
    else if (member.is("#text")) failText(member.value);
    else if (!depth && member.is("#comment")) comments = elements(member);
    else if (!isIncidental(member)) failElement(member);
    if (failed()) return;
  }
  if (ownFile) file = ownFile;

  const outside = path.length;
  const casesBefore = cases;
  const failuresBefore = failures;
  const errorsBefore = errors;
  if (testcases) {
    for (testcase.of(testcases); testcase.next(); ) {
      path.text("/testcase/").number(testcase.index);
      const outcome = normalizeCase(testcase.value, name, file);
      if (failed()) return;
      cases++;
      if (outcome != Outcome.PASSED) failures++;
      if (outcome == Outcome.ERROR) errors++;
      path.truncate(outside);
    }
  }
  if (suites) {
    if (depth == NESTED) {
      fail("junit-too-deep", "/testsuite", sentence("suites are nested more than ").number(NESTED).text(" deep"), "", 0);
      return;
    }
    const suite = changetype<Elements>(nested + <usize>depth * offsetof<Elements>());
    for (suite.of(suites); suite.next(); ) {
      path.text("/testsuite/").number(suite.index);
      normalizeSuite(suite.value, depth + 1, file);
      if (failed()) return;
      path.truncate(outside);
    }
  }
  checkCounts(testCount, failureCount, errorCount, cases - casesBefore, failures - failuresBefore, errors - errorsBefore);
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
 * Holds a suite's counts against all that is in it. Whether they include nested
 * suites, and in which of the two counts a failure belongs, depends on the
 * producer, so a contradiction is only what no producer could mean: something
 * failed, but nothing that did is there; or test cases are missing. For a test
 * that passes and then fails to clean up, pytest counts two and writes one.
 */
function checkCounts(
  tests: Value, failureTotal: Value, errorTotal: Value, caseCount: i32, failureCount: i32, errorCount: i32
): void {
  const testsSaid = countOf(tests, "tests");
  const failuresSaid = countOf(failureTotal, "failures");
  const errorsSaid = countOf(errorTotal, "errors");
  if (!failureCount && (failuresSaid > 0 || errorsSaid > 0)) {
    fail(
      "junit-contradiction", failuresSaid > 0 ? "/@failures" : "/@errors",
      sentence("the suite counts ").number(max(failuresSaid, 0)).text(" failures and ").number(max(errorsSaid, 0))
        .text(" errors, but no test case in it failed"),
      "", failuresSaid > 0 ? failureTotal : errorTotal
    );
  }
  if (testsSaid > caseCount + errorCount) {
    fail(
      "junit-contradiction", "/@tests",
      sentence("the suite counts ").number(testsSaid).text(" tests, but the number of its test cases is ").number(caseCount),
      "", tests
    );
  }
}

/** A count; -1 where it is left out. Anything but a number fails. */
function countOf(attribute: Value, name: string): i32 {
  if (!attribute) return -1;
  const count = digits(attribute);
  if (count < 0) refuse("junit-invalid", "", name, "a whole number in plain digits", attribute);
  return count;
}
