/**
 * One run: did its tool run at all, and what did it find?
 */

import {
  Elements, Members, Value, find, isAbsent, isArray, isBoolean, isFalse, isFilledString, isObject
} from "../../sdk/assemblyscript/cursor";
import { about, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { normalizeResult } from "./finding";
import { readOverrides } from "./overrides";
import { readArtifacts } from "./place";
import { Level, levelOf } from "./severity";
import { optionalArray, optionalObject } from "./shape";
import { readTool } from "./tool";

/** Why a log is refused that keeps parts of a run in another place, and what to do about it. */
export const ELSEWHERE = "parts of a run are kept outside of it";
export const INTO_THE_RUN = "have the tool write its results into its run";

const member = changetype<Members>(memory.data(offsetof<Members>()));
const invocation = changetype<Elements>(memory.data(offsetof<Elements>()));
const notification = changetype<Elements>(memory.data(offsetof<Elements>()));
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
  let conversion: Value = 0;
  let results: Value = 0;
  let external: Value = 0;
  let artifacts: Value = 0;
  let bases: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("tool")) tool = member.value;
    else if (member.is("invocations")) invocations = member.value;
    else if (member.is("conversion")) conversion = member.value;
    else if (member.is("results")) results = member.value;
    else if (member.is("externalPropertyFileReferences")) external = member.value;
    else if (member.is("artifacts")) artifacts = member.value;
    else if (member.is("originalUriBaseIds")) bases = member.value;
  }
  const name = find(find(tool, "driver"), "name");
  if (!isFilledString(name)) {
    refuse("sarif-invalid", "", "the run's tool.driver.name", "a string that isn't empty", name);
    return;
  }
  about(name, -1);
  checkInvocations(invocations);
  checkConversion(conversion);
  if (!isAbsent(external) && !isHarmless(external)) {
    fail("sarif-invalid", "", sentence(ELSEWHERE), INTO_THE_RUN, external);
  }
  if (isAbsent(results)) {
    fail(
      "sarif-no-results", results ? "/results" : "",
      sentence("the run has no results array"),
      "a clean run has an empty results array", results
    );
  }
  if (!isArray(results)) refuse("sarif-invalid", "/results", "results", "an array", results);
  readTool(tool);
  readOverrides(invocations);
  readArtifacts(artifacts, bases);
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

/** Whether the run keeps nothing in another file but the taxonomies that its rules mention. */
function isHarmless(external: Value): bool {
  if (!isObject(external)) return false;
  for (member.of(external); member.next(); ) {
    if (!member.is("taxonomies")) return false;
  }
  return true;
}

/** Every invocation must have succeeded; a run may leave them out altogether. */
function checkInvocations(invocations: Value): void {
  if (!invocations) return;
  if (!isArray(invocations)) {
    refuse("sarif-invalid", "", "invocations", "an array", invocations);
    return;
  }
  const outside = path.length;
  for (invocation.of(invocations); invocation.next(); ) {
    path.text("/invocations/").number(invocation.index);
    checkInvocation(invocation.value);
    if (failed()) return;
    path.truncate(outside);
  }
}

/** A converter that failed may have lost what the tool had found. */
function checkConversion(conversion: Value): void {
  const value = find(optionalObject(conversion, "conversion"), "invocation");
  if (!value || failed()) return;
  const outside = path.length;
  path.text("/conversion/invocation");
  checkInvocation(value);
  if (!failed()) path.truncate(outside);
}

/** A tool that doesn't say it succeeded may not have seen all that it should have: no evidence. */
function checkInvocation(value: Value): void {
  if (!isObject(value)) {
    refuse("sarif-invalid", "", "an invocation", "an object", value);
    return;
  }
  const success = find(value, "executionSuccessful");
  if (!isBoolean(success) || isFalse(success)) failExecution("executionSuccessful", success);
  checkMissing(value, "exitSignalName");
  checkMissing(value, "processStartFailureMessage");
  checkNotifications(value, "toolExecutionNotifications");
  checkNotifications(value, "toolConfigurationNotifications");
}

/** Checks that an invocation tells of no error: a rule or a file that a tool gives up on is no failure to it. */
function checkNotifications(value: Value, name: string): void {
  const notifications = optionalArray(find(value, name), name);
  if (!notifications) return;
  for (notification.of(notifications); notification.next(); ) {
    const value = optionalObject(notification.value, "a notification");
    if (levelOf(find(value, "level")) != Level.ERROR) continue;
    fail(
      "sarif-execution-failed", "",
      sentence("one of its ").text(name).text(" is an error: ").excerpt(find(find(value, "message"), "text")),
      "find out why and run the tool again", value
    );
    return;
  }
}

/** Checks that an invocation does not have a member that only failures have. */
function checkMissing(value: Value, name: string): void {
  const found = find(value, name);
  if (!isAbsent(found)) failExecution(name, found);
}

function failExecution(name: string, found: Value): void {
  fail(
    "sarif-execution-failed", "",
    sentence(name).text(" of the tool is ").excerpt(found),
    "find out why and run the tool again", found
  );
}
