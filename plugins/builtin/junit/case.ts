/**
 * One test case: how did it end?
 */

import {
  Elements, Members, Value, countOf, endOf, find, firstOf, isFilledString, isObject, readText, says
} from "../../sdk/assemblyscript/cursor";
import { beginSkipped, endSkipped, failed, refuse } from "../../sdk/assemblyscript/result";
import { digits } from "../../sdk/assemblyscript/number";
import { begins } from "../../sdk/assemblyscript/text";
import { isToDo, readProblem, writeProblem, writeReason } from "./problem";
import { attribute, elements, failElement, isIncidental, isWord } from "./shape";

/** The members of a test case that matter. */
@unmanaged
class Case {
  name: Value;
  classname: Value;
  file: Value;
  line: Value;
  status: Value;
  result: Value;
  failures: Value;
  errors: Value;
  skipped: Value;
  /** How many of its runs failed before one passed. */
  flaky: i32;
  rerunFailures: Value;
  rerunErrors: Value;

  read(testcase: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Case>());
    for (member.of(testcase); member.next(); ) {
      if (member.is("@name")) this.name = attribute(member);
      else if (member.is("@classname")) this.classname = attribute(member);
      else if (member.is("@file")) this.file = attribute(member);
      else if (member.is("@line")) this.line = attribute(member);
      else if (member.is("@status")) this.status = attribute(member);
      else if (member.is("@result")) this.result = attribute(member);
      else if (member.is("failure")) this.failures = elements(member);
      else if (member.is("error")) this.errors = elements(member);
      else if (member.is("skipped") || member.is("disabled")) this.skipped = firstOf(elements(member));
      else if (member.is("flakyFailure") || member.is("flakyError")) this.flaky += countOf(elements(member));
      else if (member.is("rerunFailure")) this.rerunFailures = elements(member);
      else if (member.is("rerunError")) this.rerunErrors = elements(member);
      else if (!isIncidental(member)) failElement(member);
    }
  }
}

/** What a status says of a test. */
enum Ending { UNSAID, FAILED, NOT_RUN }

const testcase = changetype<Case>(memory.data(offsetof<Case>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const problem = changetype<Elements>(memory.data(offsetof<Elements>()));

/** How many test cases there are so far, how many of them failed, and how many were skipped. */
export let cases: i64 = 0;
export let failures: i64 = 0;
export let skips: i64 = 0;
/** How many failed runs there are of tests that passed in the end. */
export let flaky: i64 = 0;

/** Writes the test case at `value`, where `path` is, or fails. `suite` and `file` are its suite's. */
export function normalizeCase(value: Value, suite: Value, file: Value): void {
  if (!isObject(value)) {
    refuse("junit-invalid", "", "a test case", "an element", value);
    return;
  }
  testcase.read(value);
  cases++;
  flaky += testcase.flaky;
  const line = lineOf(testcase.line);
  if (failed()) return;
  if (testcase.file) file = testcase.file;
  const name = testcase.name ? testcase.name : testcase.classname;
  if (!testcase.classname) testcase.classname = suite;

  // Of a test that failed again and again, the first failure speaks for all.
  if (!firstOf(testcase.failures) && !firstOf(testcase.errors)) {
    testcase.failures = firstOf(testcase.rerunFailures) ? testcase.rerunFailures : 0;
    testcase.errors = firstOf(testcase.rerunErrors) ? testcase.rerunErrors : 0;
  }
  const failure = firstOf(testcase.failures);
  const error = firstOf(testcase.errors);
  if (failure || error) {
    failures++;
    readProblem(testcase.skipped);
    if (testcase.skipped && isToDo()) {
      skip();
      return;
    }
    writeProblems(testcase.failures, false, file, line);
    writeProblems(testcase.errors, true, file, line);
    return;
  }
  const status = endingOf(testcase.status, "/@status");
  const result = endingOf(testcase.result, "/@result");
  if (status == Ending.FAILED || result == Ending.FAILED) {
    failures++;
    writeProblem(0, false, testcase.classname, testcase.name, file, line);
    return;
  }
  if (couldNotRun()) {
    failures++;
    writeProblem(testcase.skipped, true, testcase.classname, testcase.name, file, line);
    return;
  }
  if (testcase.skipped || status == Ending.NOT_RUN || result == Ending.NOT_RUN) {
    skips++;
    readProblem(testcase.skipped);
    skip();
  } else {
    // That is how pytest leaves the test in which it was interrupted.
    if (!name) refuse("junit-invalid", "", "the name of a test case that passed", "given", 0);
    beginSkipped().text(testcase.flaky ? "flaky" : "test passed");
    endSkipped();
  }
}

function writeProblems(problems: Value, isError: bool, file: Value, line: u32): void {
  if (!problems) return;
  for (problem.of(problems); problem.next(); ) {
    writeProblem(problem.value, isError, testcase.classname, testcase.name, file, line);
    if (failed()) return;
  }
}

/** Skips the test case with the reason that was read last, if there is one. */
function skip(): void {
  if (failed()) return;
  const skipped = beginSkipped().text("test skipped");
  const end = skipped.length;
  if (!writeReason(skipped.text(": "))) skipped.truncate(end);
  endSkipped();
}

/**
 * Whether CTest could not run the test, as where its program was not built. It
 * counts that among the failed on its command line, but skips it in its report.
 * Where a test asks to be skipped, the message is the property that says how.
 */
function couldNotRun(): bool {
  if (!testcase.skipped || testcase.result || !testcase.status || !says(testcase.status, "notrun")) return false;
  const message = find(testcase.skipped, "@message");
  return isFilledString(message) && !begins(message + 1, endOf(message) - 1, "SKIP_");
}

/** What a status says, which some producers give instead of an element. A word that none of them has fails. */
function endingOf(status: Value, where: string): Ending {
  if (!status) return Ending.UNSAID;
  readText(status);
  if (
    isWord("passed") || isWord("pass") || isWord("ok") || isWord("run") || isWord("completed")
    || isWord("success") || isWord("successful") || isWord("succeeded")
  ) return Ending.UNSAID;
  if (
    isWord("failed") || isWord("fail") || isWord("failure")
    || isWord("error") || isWord("errored") || isWord("broken")
  ) return Ending.FAILED;
  if (
    isWord("notrun") || isWord("skipped") || isWord("skip") || isWord("disabled") || isWord("untested")
    || isWord("suppressed") || isWord("ignored") || isWord("pending")
  ) return Ending.NOT_RUN;
  refuse("junit-invalid-status", where, "the status", "a word for passed, failed or not run", status);
  return Ending.UNSAID;
}

/** The line; 0 where it is not given, for which producers write 0, too. Anything else fails. */
function lineOf(attribute: Value): u32 {
  if (!attribute) return 0;
  const line = digits(attribute);
  if (line >= 0) return line;
  refuse("junit-invalid-line", "/@line", "the line", "a whole number from 0 to 2147483647 in plain digits", attribute);
  return 0;
}
