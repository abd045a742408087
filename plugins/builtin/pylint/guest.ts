/**
 * `pylint`: normalizes what Pylint's formats `json` and `json2` write, an array
 * of messages or an object that also says what was counted.
 */

import { Elements, Value, document, find, isArray, isObject } from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, failed, path, refuse } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { normalizeMessage } from "./message";
import { checkStatistics } from "./statistics";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const message = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"pylint","version":"1.0.0","critic":"pylint","formats":["application/json"],')
      .text('"detect":[],"detect_any":["/message-id","/statistics/modulesLinted"],')
      .text('"items":["/*","/messages/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "pylint", '"lint-violation"')) normalizeReport(document(report));
  return packed(answer("pylint", 0, 0, 0));
}

function normalizeReport(report: Value): void {
  if (isArray(report)) {
    normalizeMessages(report);
    return;
  }
  if (!isObject(report)) {
    refuse("pylint-invalid", "", "the report", "an array of messages or an object that holds them", report);
    return;
  }
  const messages = find(report, "messages");
  if (!isArray(messages)) {
    refuse("pylint-invalid", messages ? "/messages" : "", "messages", "an array", messages);
    return;
  }
  path.text("/messages");
  normalizeMessages(messages);
  if (failed()) return;
  path.truncate(0);
  checkStatistics(find(report, "statistics"));
}

function normalizeMessages(messages: Value): void {
  const outside = path.length;
  for (message.of(messages); message.next(); ) {
    path.text("/").number(message.index);
    normalizeMessage(message.value);
    if (failed()) return;
    path.truncate(outside);
  }
}
