/**
 * `rdjsonl`: normalizes the reviewdog diagnostic format in lines, one
 * Diagnostic each, which the host hands over as an array.
 */

import { Elements, Value, document, firstOf, isArray } from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { invalid, speakAsLines } from "../rdjson/codes";
import { normalizeDiagnostic } from "../rdjson/diagnostic";
import { Severity } from "../rdjson/severity";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const line = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"rdjsonl","version":"1.0.0","critic":"rdjsonl","formats":["application/x-ndjson"],')
      .text('"detect":["/message","/location/path"],"items":["/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  speakAsLines();
  if (readCategories(document(config), "rdjsonl", '"lint-violation"')) normalizeLines(document(report));
  return packed(answer("rdjsonl", 0, 0, 0));
}

function normalizeLines(lines: Value): void {
  if (!isArray(lines)) {
    refuse(invalid(), "", "a report of lines", "an array", lines);
    return;
  }
  if (!firstOf(lines)) {
    fail(
      "rdjsonl-empty", "",
      sentence("the report has no lines, so nothing says that a tool ran"),
      "use rdjson, in which a tool that found nothing can say so", lines
    );
    return;
  }
  for (line.of(lines); line.next(); ) {
    path.truncate(0);
    path.text("/").number(line.index);
    normalizeDiagnostic(line.value, 0, Severity.UNKNOWN);
    if (failed()) return;
  }
}
