/**
 * `sarif`: normalizes the logs of linters and scanners in SARIF 2.1.0.
 *
 * A log is evidence that its tools ran, so everything that leaves room for
 * doubt is refused: no runs, a run without results that nobody vouches for, a tool
 * that says it failed, results that are kept where this guest doesn't look.
 */

import {
  Elements, Members, Value, document, firstOf, isAbsent, isArray, isObject, says
} from "../../sdk/assemblyscript/cursor";
import { Writer } from "../../sdk/assemblyscript/writer";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { answer, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { ELSEWHERE, INTO_THE_RUN, normalizeRun } from "./run";
import { readSeverities } from "./severity";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const run = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description.text(
      '{"name":"sarif","version":"1.0.0","critic":"sarif","formats":["application/sarif+json"],"detect":["/version","/runs"],"items":["/runs/*/results/*"]}'
    )
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "sarif", '"lint-violation"', true)) {
    readSeverities();
    normalizeLog(document(report));
  }
  return packed(answer("sarif", 0, 0, 0));
}

function normalizeLog(log: Value): void {
  if (!isObject(log)) {
    refuse("sarif-invalid", "", "a SARIF log", "an object", log);
    return;
  }
  let version: Value = 0;
  let runs: Value = 0;
  let external: Value = 0;
  for (member.of(log); member.next(); ) {
    if (member.is("version")) version = member.value;
    else if (member.is("runs")) runs = member.value;
    else if (member.is("inlineExternalProperties")) external = member.value;
  }
  if (!says(version, "2.1.0")) {
    refuse("sarif-unsupported-version", version ? "/version" : "", "the log's version", "2.1.0", version);
    return;
  }
  if (!isArray(runs) || !firstOf(runs)) {
    refuse("sarif-no-runs", runs ? "/runs" : "", "runs", "an array of at least one run", runs);
    return;
  }
  if (!isAbsent(external) && !isHarmless(external)) {
    fail("sarif-invalid", "/inlineExternalProperties", sentence(ELSEWHERE), INTO_THE_RUN, external);
    return;
  }
  for (run.of(runs); run.next(); ) {
    path.truncate(0);
    path.text("/runs/").number(run.index);
    normalizeRun(run.value);
    if (failed()) return;
  }
}

/** Whether external properties name themselves and their run, and hold nothing of it. */
function isHarmless(external: Value): bool {
  if (!isArray(external)) return false;
  for (run.of(external); run.next(); ) {
    if (!isObject(run.value)) return false;
    for (member.of(run.value); member.next(); ) {
      if (!member.is("guid") && !member.is("runGuid") && !member.is("schema") && !member.is("version")) return false;
    }
  }
  return true;
}
