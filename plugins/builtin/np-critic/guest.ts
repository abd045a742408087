/**
 * `np-critic`: normalizes the reports of the critic agent.
 *
 * A report file holds one report, or an array of them, one a critic. The
 * guest is as strict as it can be: a report that is not exactly what a critic
 * should have written is refused with a code of its own, because whatever is
 * silently read as "no findings" commits the task.
 */

import { Elements, Members, Value, document, find, firstOf, isArray } from "../../sdk/assemblyscript/cursor";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, fail, failConfig, path, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { withPrevious } from "../../sdk/assemblyscript/previous";
import { normalizeReport, round, task } from "./report";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const setting = changetype<Members>(memory.data(offsetof<Members>()));
const entry = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"np-critic","version":"1.0.0","critic":"critic","formats":["application/json"],')
      .text('"detect":["/critic"],')
      .text('"items":["/findings/*","/*/findings/*","/criteria/*","/*/criteria/*","/previous/*","/*/previous/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  const file = document(report);
  if (checkConfig(document(config))) normalizeFile(file);
  return packed(withPrevious(answer("critic", find(file, "critic"), task, round)));
}

function checkConfig(config: Value): bool {
  setting.of(config);
  if (!setting.next()) return true;
  return failConfig(
    "", setting.key,
    sentence("np-critic takes no configuration, but was given the key ").excerpt(setting.key),
    "remove the key"
  );
}

function normalizeFile(file: Value): void {
  if (!isArray(file)) {
    normalizeReport(file);
    return;
  }
  if (!firstOf(file)) {
    fail(
      "critic-output-empty", "",
      sentence("the report file holds an empty array, so no critic has reported"),
      "run the critic again; an empty file is no evidence that it ran", file
    );
    return;
  }
  for (entry.of(file); entry.next(); ) {
    path.truncate(0);
    path.text("/").number(entry.index);
    if (!normalizeReport(entry.value)) return;
  }
}
