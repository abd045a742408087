/**
 * `golangci-lint`: normalizes the JSON that golangci-lint writes, version 1 or
 * 2.
 *
 * A report without issues is evidence only if it also says that linters ran,
 * and no report is evidence if it says that something went wrong.
 */

import {
  Elements, Members, Value,
  document, find, isAbsent, isArray, isBlank, isBoolean, isFalse, isObject, isString, readText, textAt, textLength
} from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { begins } from "../../sdk/assemblyscript/text";
import { packed } from "../../sdk/assemblyscript/abi";
import { normalizeIssue } from "./issue";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const issue = changetype<Elements>(memory.data(offsetof<Elements>()));
const linter = changetype<Elements>(memory.data(offsetof<Elements>()));
const warning = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"golangci-lint","version":"1.0.0","critic":"golangci-lint","formats":["application/json"],')
      .text('"detect":["/Issues","/Report"],"items":["/Issues/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "golangci-lint", '"lint-violation"')) normalizeRun(document(report));
  return packed(answer("golangci-lint", 0, 0, 0));
}

function normalizeRun(run: Value): void {
  if (!isObject(run)) {
    refuse("golangci-lint-invalid", "", "the report", "an object", run);
    return;
  }
  let issues: Value = 0;
  let report: Value = 0;
  for (member.of(run); member.next(); ) {
    if (member.is("Issues")) issues = member.value;
    else if (member.is("Report")) report = member.value;
  }
  if (!issues || !isAbsent(issues) && !isArray(issues)) {
    refuse("golangci-lint-no-issues", issues ? "/Issues" : "", "Issues", "an array or null", issues);
    return;
  }
  if (!isAbsent(report) && !isObject(report)) {
    refuse("golangci-lint-invalid", "/Report", "Report", "an object", report);
    return;
  }
  if (!checkError(find(report, "Error")) || !checkWarnings(find(report, "Warnings"))) return;

  if (!isAbsent(issues)) {
    for (issue.of(issues); issue.next(); ) {
      path.truncate(0);
      path.text("/Issues/").number(issue.index);
      normalizeIssue(issue.value);
      if (failed()) return;
    }
    if (issue.index >= 0) return;
  }
  path.truncate(0);
  checkLinters(find(report, "Linters"));
}

/** An error that was logged: the linters may not have seen all that they should have. */
function checkError(error: Value): bool {
  if (isBlank(error)) return true;
  return fail(
    "golangci-lint-failed", "/Report/Error",
    sentence("golangci-lint says that it failed: ").excerpt(error),
    "find out why it failed and run it again", error
  );
}

/**
 * A linter that could not run is only a warning in versions before 1.44, also
 * where that is because the code does not compile.
 */
function checkWarnings(warnings: Value): bool {
  if (isAbsent(warnings)) return true;
  if (!isArray(warnings)) return refuse("golangci-lint-invalid", "/Report/Warnings", "Warnings", "an array", warnings);
  for (warning.of(warnings); warning.next(); ) {
    const text = find(warning.value, "Text");
    if (!isString(text)) {
      return refuse("golangci-lint-invalid", "/Report/Warnings", "a warning's Text", "a string", text);
    }
    readText(text);
    if (!begins(textAt, textAt + textLength, "Can't run ")) continue;
    return fail(
      "golangci-lint-failed", "/Report/Warnings",
      sentence("golangci-lint says that a linter did not run: ").excerpt(text),
      "find out why it failed and run it again", text
    );
  }
  return true;
}

/** Nothing was found: by whom? The list has every linter there is, and marks those that ran. */
function checkLinters(linters: Value): void {
  if (isArray(linters)) {
    for (linter.of(linters); linter.next(); ) {
      const enabled = find(linter.value, "Enabled");
      if (isBoolean(enabled) && !isFalse(enabled)) return;
    }
  }
  fail(
    "golangci-lint-no-linters", linters ? "/Report/Linters" : "",
    sentence("the report has no issues, and does not say that a linter ran"),
    "check which linters golangci-lint's configuration enables", linters
  );
}
