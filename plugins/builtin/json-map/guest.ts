/**
 * `json-map`: normalizes the list of findings of any tool that prints one as
 * JSON or JSON lines. The configuration says where in the report the items are
 * and which of their members mean what.
 */

import { Value, document, firstOf, isArray } from "../../sdk/assemblyscript/cursor";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, beginSkipped, endSkipped, fail, failed, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { Pointer } from "./pointer";
import { readSettings, failure, items, lines, emptyIsClean } from "./settings";
import { walk } from "./walk";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"json-map","version":"1.0.0","critic":"json-map","formats":["application/json","application/x-ndjson"],')
      .text('"detect":[],"items":[],"items_from":"/items","lines_if":"/lines"}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readSettings(document(config))) normalize(document(report));
  return packed(answer("json-map", 0, 0, 0));
}

function normalize(report: Value): void {
  if (lines && isArray(report) && !firstOf(report)) {
    if (emptyIsClean) {
      beginSkipped().text("report without a line, clean by configuration");
      endSkipped();
      return;
    }
    fail(
      "json-map-empty", "", sentence("the report has no lines, so nothing says that the tool ran"),
      "if the tool prints nothing when it finds nothing, set empty: clean in its configuration", report
    );
    return;
  }
  for (let p = failure; p && !failed(); p = changetype<Pointer>(p).next) walk(changetype<Pointer>(p), report, false);
  for (let p = items; p && !failed(); p = changetype<Pointer>(p).next) walk(changetype<Pointer>(p), report, true);
}
