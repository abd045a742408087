/**
 * `checkstyle`: normalizes reports in the XML format of Checkstyle, which
 * linters for many languages write, too.
 *
 * The host gives XML as JSON: child elements as arrays, attributes with an `@`.
 * An element that this format doesn't have could hold anything, so it is
 * refused rather than overlooked.
 */

import { Elements, Members, Value, document, find, isArray, isBlank, isObject } from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { normalizeFile } from "./file";
import { failElement, failTool, isAttributeOrText } from "./shape";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const file = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"checkstyle","version":"1.0.0","critic":"checkstyle","formats":["application/xml","text/xml"],')
      .text('"detect":["/checkstyle"],"items":["/checkstyle/file/*/error/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "checkstyle", '"lint-violation"')) normalizeReport(document(report));
  return packed(answer("checkstyle", 0, 0, 0));
}

function normalizeReport(report: Value): void {
  const root = find(report, "checkstyle");
  if (!isObject(root)) {
    refuse("checkstyle-invalid", "", "the root element", "checkstyle", root);
    return;
  }
  path.text("/checkstyle");
  let version: Value = 0;
  let files: Value = 0;
  for (member.of(root); member.next(); ) {
    if (member.is("@version")) version = member.value;
    else if (member.is("file")) files = member.value;
    else if (member.is("exception")) failTool(member.value);
    else if (member.is("#text") || !isAttributeOrText(member)) failElement(member);
    if (failed()) return;
  }
  if (!files) {
    // Many linters write no more than this for a clean run, but they all say
    // which version of the format it is.
    if (isBlank(version)) {
      fail(
        "checkstyle-invalid", "",
        sentence("the report names neither a file nor its version, so nothing says that a linter wrote it"),
        "", version
      );
    }
    return;
  }
  if (!isArray(files)) {
    refuse("checkstyle-invalid", "/file", "file", "an array of elements", files);
    return;
  }
  const outside = path.length;
  for (file.of(files); file.next(); ) {
    path.text("/file/").number(file.index);
    normalizeFile(file.value);
    if (failed()) return;
    path.truncate(outside);
  }
}
