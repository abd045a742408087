/**
 * One run: did its tool run at all, and what did it find?
 */

import {
  Elements, Members, Value, find, firstOf, isAbsent, isArray, isFilledString, isObject, says
} from "../../sdk/assemblyscript/cursor";
import { emptyIsClean } from "../../sdk/assemblyscript/mapping";
import {
  about, beginSkipped, endSkipped, fail, failed, path, refuse, sentence
} from "../../sdk/assemblyscript/result";
import { checkInvocations } from "./execution";
import { normalizeResult } from "./finding";
import { readOverrides } from "./overrides";
import { readArtifacts } from "./place";
import { optionalObject } from "./shape";
import { readTool } from "./tool";

/** Why a log is refused that keeps parts of a run in another place, and what to do about it. */
export const ELSEWHERE = "parts of a run are kept outside of it";
export const INTO_THE_RUN = "have the tool write its results into its run";

const member = changetype<Members>(memory.data(offsetof<Members>()));
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
  if (says(name, "audit")) {
    refuse("sarif-invalid", "/tool/driver/name", "the run's tool.driver.name", "another name than audit, which is Switchyard's own", name);
    return;
  }
  about(name, -1);
  if (!invocations || isArray(invocations)) checkInvocations(invocations, tool);
  else refuse("sarif-invalid", "", "invocations", "an array", invocations);
  checkConversion(conversion);
  if (!isAbsent(external) && !isHarmless(external)) {
    fail("sarif-invalid", "", sentence(ELSEWHERE), INTO_THE_RUN, external);
  }
  if (isAbsent(results)) {
    acceptWithoutResults(invocations, results);
    return;
  }
  if (!isArray(results)) refuse("sarif-invalid", "/results", "results", "an array", results);
  readTool(tool, "rule", "rules");
  readOverrides(invocations, "ruleConfigurationOverrides");
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

/**
 * Some tools leave out an empty array. That is a clean run if an invocation, all of
 * which were checked, says so, or if the project does.
 */
function acceptWithoutResults(invocations: Value, results: Value): void {
  if (failed() || firstOf(invocations)) return;
  if (emptyIsClean) {
    beginSkipped().text("run without results, clean by configuration");
    endSkipped();
    return;
  }
  fail(
    "sarif-no-results", results ? "/results" : "",
    sentence("the run has no results array, and no invocation that says executionSuccessful: true"),
    "if the tool ended without an error and leaves results out of a clean report, say so in switchyard.yaml: plugins: {sarif: {empty: clean}}",
    results
  );
}

/** Whether the run keeps nothing in another file but the taxonomies that its rules mention. */
function isHarmless(external: Value): bool {
  if (!isObject(external)) return false;
  for (member.of(external); member.next(); ) {
    if (!member.is("taxonomies")) return false;
  }
  return true;
}

/** A converter that failed may have lost what the tool had found. */
function checkConversion(conversion: Value): void {
  const invocation = find(optionalObject(conversion, "conversion"), "invocation");
  if (!invocation || failed()) return;
  const outside = path.length;
  path.text("/conversion");
  if (isObject(invocation)) checkInvocations(invocation, find(conversion, "tool"));
  else refuse("sarif-invalid", "/invocation", "an invocation", "an object", invocation);
  path.truncate(outside);
}
