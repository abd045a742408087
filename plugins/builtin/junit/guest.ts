/**
 * `junit`: normalizes the XML reports in which test runners of many languages
 * follow JUnit's.
 *
 * There is no standard, so the guest reads what the producers have in common,
 * and refuses an element that it doesn't know: it could be one more way to say
 * that a test failed. Suites may be nested {@link NESTED} deep.
 */

import { Value, document, find, isObject } from "../../sdk/assemblyscript/cursor";
import { emptyIsClean, readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, beginSkipped, endSkipped, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { cases } from "./case";
import { checkComments } from "./comments";
import { findings } from "./problem";
import { NESTED, checkMissing, comments, normalizeSuite } from "./suite";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));

export function sy_describe(): u64 {
  description
    .text('{"name":"junit","version":"1.0.0","critic":"junit","formats":["application/xml","text/xml"],')
    .text('"detect":[],"detect_any":["/testsuites","/testsuite"],"items":[');
  for (let depth = 0; depth <= NESTED; depth++) {
    if (depth) description.text(",");
    describeItems("/testsuites", depth);
    description.text(",");
    describeItems("/testsuite", depth);
  }
  return packed(description.text("]}"));
}

function describeItems(root: string, depth: i32): void {
  description.text('"').text(root);
  while (depth--) description.text("/testsuite/*");
  description.text('/testcase/*"');
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "junit", '"verify-mismatch"', true)) normalizeReport(document(report));
  return packed(answer("junit", 0, 0, 0));
}

function normalizeReport(report: Value): void {
  let root = find(report, "testsuites");
  if (root) {
    path.text("/testsuites");
  } else {
    root = find(report, "testsuite");
    if (root) path.text("/testsuite");
  }
  if (!isObject(root)) {
    refuse("junit-invalid", "", "the root element", "testsuites or testsuite", root);
    return;
  }
  normalizeSuite(root, 0, 0);
  if (cases) checkMissing();
  if (comments && !findings && !failed()) checkComments(comments);
  if (failed() || cases) return;
  if (emptyIsClean) {
    beginSkipped().text("report without a test case, clean by configuration");
    endSkipped();
    return;
  }
  fail(
    "junit-no-tests", "",
    sentence("the report holds no test case, so nothing was tested"),
    "check which tests the runner was told to run; if it is a linter that found nothing, say so in switchyard.yaml, plugins: {lint: {use: junit, empty: clean}}, and give --report lint=FILE",
    0
  );
}
