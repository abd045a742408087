/**
 * One run: did its tool run at all, and what did it find?
 */

import {
  Elements, Members, Value, find, isAbsent, isArray, isBoolean, isFalse, isFilledString, isObject
} from "../../sdk/assemblyscript/cursor";
import { about, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { normalizeResult } from "./finding";
import { readRules } from "./rules";
import { optionalArray, optionalObject } from "./shape";

const member = changetype<Members>(memory.data(offsetof<Members>()));
const invocation = changetype<Elements>(memory.data(offsetof<Elements>()));
const result = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Normalizes the run at `value`, where `path` is, or fails. */
export function normalizeRun(value: Value): void {
  about(0, -1);
  if (!isObject(value)) {
    refuse("sarif-invalid", "", "a run", "an object", value);
    return;
  }
  let tool: Value = 0;
  let invocations: Value = 0;
  let results: Value = 0;
  let external: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("tool")) tool = member.value;
    else if (member.is("invocations")) invocations = member.value;
    else if (member.is("results")) results = member.value;
    else if (member.is("externalPropertyFileReferences")) external = member.value;
  }
  const driver = find(tool, "driver");
  const name = find(driver, "name");
  if (!isFilledString(name)) {
    refuse("sarif-invalid", "", "the run's tool.driver.name", "a string that isn't empty", name);
    return;
  }
  about(name, -1);
  checkInvocations(invocations);
  if (!isAbsent(find(external, "results"))) {
    fail(
      "sarif-invalid", "",
      sentence("the run keeps results in another file"),
      "have the tool write its results into its run", external
    );
  }
  if (isAbsent(results)) {
    fail(
      "sarif-no-results", results ? "/results" : "",
      sentence("the run has no results array, so its tool has reported nothing"),
      "a tool that found nothing writes an empty results array", results
    );
  }
  if (!isArray(results)) refuse("sarif-invalid", "/results", "results", "an array", results);
  readRules(driver);
  if (failed()) return;

  const outside = path.length;
  for (result.of(results); result.next(); ) {
    path.text("/results/").number(result.index);
    about(name, result.index);
    normalizeResult(name, result.value);
    if (failed()) return;
    path.truncate(outside);
  }
}

/** A tool that says it failed hasn't seen all that it should have: no evidence. */
function checkInvocations(invocations: Value): void {
  const outside = path.length;
  invocations = optionalArray(invocations, "invocations");
  if (!invocations) return;
  for (invocation.of(invocations); invocation.next(); ) {
    path.text("/invocations/").number(invocation.index);
    const success = find(optionalObject(invocation.value, "an invocation"), "executionSuccessful");
    if (isFalse(success)) {
      fail(
        "sarif-execution-failed", "",
        sentence("the tool says that its execution was not successful"),
        "find out why the tool failed and run it again", success
      );
    }
    if (!isAbsent(success) && !isBoolean(success)) {
      refuse("sarif-invalid", "", "executionSuccessful", "true or false", success);
    }
    if (failed()) return;
    path.truncate(outside);
  }
}
