/**
 * `json-map`: normalizes the list of findings of any tool that prints one as
 * JSON or JSON lines. The configuration says where in the report the items are
 * and which of their members mean what.
 */

import { Value, document, firstOf, isArray, isFilledString, says } from "../../sdk/assemblyscript/cursor";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, beginSkipped, endSkipped, fail, failed, hasFindings, path, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { Pointer, follow } from "./pointer";
import { readSettings, failure, items, lines, emptyIsClean, verdict, verdicts } from "./settings";
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
  if (verdict && !failed()) checkVerdict(changetype<Pointer>(verdict), report);
}

/** Fails if the report's verdict is none of those that are known, or contradicts its findings. */
function checkVerdict(place: Pointer, report: Value): void {
  let value = report;
  for (let i = 0; value && i < place.count; i++) value = follow(value, place.step(i));
  path.truncate(0);
  if (value) path.inside(place.text);
  const meaning: Value = isFilledString(value) ? verdicts.get(value) : 0;
  if (!meaning) {
    const message = value
      ? sentence("the verdict is ").excerpt(value).text(", which is not in the configuration's verdicts")
      : sentence("the report has no verdict at ").excerpt(place.text);
    fail(
      "json-map-unknown-verdict", "", message,
      "run the critic again if it could not review; else add the word to verdicts, as clean, findings or any", value
    );
  } else if (says(meaning, hasFindings() ? "clean" : "findings")) {
    fail(
      "json-map-verdict-contradiction", "",
      sentence("the verdict ").excerpt(value).text(hasFindings() ? " stands above findings" : " stands above no findings"),
      "run the critic again: only a verdict that agrees with the findings counts", value
    );
  }
}
