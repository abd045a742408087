/**
 * `eslint`: normalizes what ESLint's formatter `json` writes, an array of
 * files.
 */

import { Elements, Value, document, firstOf, isArray } from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, fail, failed, path, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { normalizeFile } from "./file";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const file = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"eslint","version":"1.0.0","critic":"eslint","formats":["application/json"],')
      .text('"detect":["/filePath","/messages","/errorCount"],')
      .text('"items":["/*/messages/*","/*/suppressedMessages/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "eslint", '"lint-violation"')) normalizeFiles(document(report));
  return packed(answer("eslint", 0, 0, 0));
}

function normalizeFiles(files: Value): void {
  if (!isArray(files)) {
    fail(
      "eslint-invalid", "",
      sentence("the report must be an array of files, but it is ").excerpt(files),
      "use ESLint's formatter json", files
    );
    return;
  }
  if (!firstOf(files)) {
    fail(
      "eslint-no-files", "",
      sentence("the report names no file, so nothing says that ESLint looked at one"),
      "run ESLint without --quiet, which leaves out files without errors", files
    );
    return;
  }
  for (file.of(files); file.next(); ) {
    path.truncate(0);
    path.text("/").number(file.index);
    normalizeFile(file.value);
    if (failed()) return;
  }
}
