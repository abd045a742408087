/**
 * `rdjson`: normalizes the reviewdog diagnostic format in one piece, a
 * DiagnosticResult.
 */

import { Elements, Members, Value, document, firstOf, isArray, isObject } from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { invalid } from "./codes";
import { nameOfSource, normalizeDiagnostic } from "./diagnostic";
import { severityOf } from "./severity";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const diagnostic = changetype<Elements>(memory.data(offsetof<Elements>()));

/** The name of the source of the whole result; 0 if it has none. */
let critic: Value = 0;

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"rdjson","version":"1.0.0","critic":"rdjson","formats":["application/json"],')
      // Other formats have diagnostics, too.
      .text('"detect":["/diagnostics"],')
      .text('"detect_any":["/source/name","/severity","/diagnostics/0/location/range"],')
      .text('"items":["/diagnostics/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "rdjson", '"lint-violation"')) normalizeResult(document(report));
  return packed(answer("rdjson", critic, 0, 0));
}

function normalizeResult(result: Value): void {
  if (!isObject(result)) {
    refuse(invalid(), "", "a diagnostic result", "an object", result);
    return;
  }
  let diagnostics: Value = 0;
  let source: Value = 0;
  let severity: Value = 0;
  let strangers = 0;
  for (member.of(result); member.next(); ) {
    if (member.is("diagnostics")) diagnostics = member.value;
    else if (member.is("source")) source = member.value;
    else if (member.is("severity")) severity = member.value;
    else strangers++;
  }
  critic = nameOfSource(source);
  const usualSeverity = severityOf(severity);
  if (failed()) return;

  if (!diagnostics) {
    // A writer of protocol buffers leaves out what is empty, so this is how
    // reviewdog says that a tool found nothing. It has to say which tool, and
    // nothing that makes the file another kind of file.
    if (critic && !strangers) return;
    fail(
      "rdjson-no-diagnostics", "",
      sentence("the report has no diagnostics array, so nothing says that a tool ran"),
      "a tool that found nothing writes its source and an empty diagnostics array", 0
    );
    return;
  }
  if (!isArray(diagnostics)) {
    refuse("rdjson-no-diagnostics", "/diagnostics", "diagnostics", "an array", diagnostics);
    return;
  }
  if (strangers && !firstOf(diagnostics)) {
    fail(
      "rdjson-no-diagnostics", "",
      sentence("the report has no diagnostics, but fields that the format does not have and that may say more"),
      "check whether the report is of this format", 0
    );
    return;
  }
  for (diagnostic.of(diagnostics); diagnostic.next(); ) {
    path.truncate(0);
    path.text("/diagnostics/").number(diagnostic.index);
    normalizeDiagnostic(diagnostic.value, critic, usualSeverity);
    if (failed()) return;
  }
}
