/**
 * A plugin that reads the reports of todo-scan, a made-up tool:
 *
 *     {"tool": "todo-scan", "complete": true, "items": [
 *       {"path": "./a.go", "line": 7, "tag": "FIXME", "priority": "high", "text": "close the file"}
 *     ]}
 */

import { packed } from "../../assemblyscript/abi";
import {
  Elements, Members, Value, document, isAbsent, isArray, isBoolean, isFalse, isFilledString, isObject, isString,
  readText, says, textAt, textLength, wholeNumber
} from "../../assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, readCategories, writeCategory } from "../../assemblyscript/mapping";
import {
  answer, beginFinding, beginSkipped, endFinding, endSkipped, fail, failed, path, refuse, sentence
} from "../../assemblyscript/result";
import { Writer } from "../../assemblyscript/writer";

export { sy_alloc, switchyard_abi_v1 } from "../../assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const element = changetype<Elements>(memory.data(offsetof<Elements>()));
const label = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"todo-scan","version":"1.0.0","critic":"todo-scan","formats":["application/json"],')
      .text('"detect":["/tool","/items"],"items":["/items/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "todo-scan", '"todo-marker"')) normalizeLog(document(report));
  return packed(answer("todo-scan", 0, 0, 0));
}

function normalizeLog(log: Value): void {
  if (!isObject(log)) {
    refuse("todo-scan-invalid", "", "the report", "an object", log);
    return;
  }
  let tool: Value = 0;
  let complete: Value = 0;
  let items: Value = 0;
  for (member.of(log); member.next(); ) {
    if (member.is("tool")) tool = member.value;
    else if (member.is("complete")) complete = member.value;
    else if (member.is("items")) items = member.value;
  }
  if (!says(tool, "todo-scan")) invalid("tool", "todo-scan", tool);
  if (!isBoolean(complete)) {
    invalid("complete", "true or false", complete);
  } else if (isFalse(complete)) {
    // The files that the tool did not scan are unchecked.
    fail("todo-scan-incomplete", "/complete", sentence("the scan was not completed"), "", complete);
  }
  if (!isArray(items)) invalid("items", "an array", items);
  if (failed()) return;
  for (element.of(items); element.next(); ) {
    path.truncate(0);
    path.text("/items/").number(element.index);
    normalizeItem(element.value);
    if (failed()) return;
  }
}

function normalizeItem(item: Value): void {
  if (!isObject(item)) {
    refuse("todo-scan-invalid", "", "an item", "an object", item);
    return;
  }
  let file: Value = 0;
  let line: Value = 0;
  let tag: Value = 0;
  let priority: Value = 0;
  let labels: Value = 0;
  let text: Value = 0;
  let ignored: Value = 0;
  for (member.of(item); member.next(); ) {
    if (member.is("path")) file = member.value;
    else if (member.is("line")) line = member.value;
    else if (member.is("tag")) tag = member.value;
    else if (member.is("priority")) priority = member.value;
    else if (member.is("labels")) labels = member.value;
    else if (member.is("text")) text = member.value;
    else if (member.is("ignored")) ignored = member.value;
  }
  if (!isFilledString(file)) invalid("path", "a path", file);
  if (!isAbsent(line) && wholeNumber(line) < 1) invalid("line", "a whole number from 1 to 2147483647", line);
  if (!isFilledString(tag)) invalid("tag", "a tag", tag);
  if (!isString(text)) invalid("text", "a string", text);
  if (!isAbsent(ignored) && !isBoolean(ignored)) invalid("ignored", "true or false", ignored);
  const high = says(priority, "high");
  if (!isString(priority)) {
    invalid("priority", "a string", priority);
  } else if (!high && !says(priority, "low")) {
    refuse("todo-scan-unknown-priority", "/priority", "priority", "high or low", priority);
  }
  const tagged = categoryOfLabels(labels);
  if (failed()) return;
  if (!isAbsent(ignored) && !isFalse(ignored)) {
    beginSkipped().text("ignored in the source");
    endSkipped();
    return;
  }
  let category = categoryOfRule(tag);
  if (!category) category = tagged;
  if (!category) category = categoryOfSeverity(priority);

  const finding = beginFinding();
  writeCategory(finding, category, tag);
  finding.text(high ? ',"severity":"risk","file":"' : ',"severity":"nit","file":"');
  readText(file);
  const cut: i32 = textLength > 1 && load<u16>(textAt) == 0x2f2e ? 2 : 0; // "./"
  finding
    .plain(textAt + cut, textLength - cut)
    .text('","line":').valueOr(line, "null")
    .text(',"remediation":"').inside(tag).text(": ").inside(text).text('"');
  endFinding();
}

/** The category of the first label that has one, or 0. Fails where these are no labels. */
function categoryOfLabels(labels: Value): Value {
  if (isAbsent(labels)) return 0;
  if (!isArray(labels)) {
    invalid("labels", "an array of strings", labels);
    return 0;
  }
  let category: Value = 0;
  for (label.of(labels); label.next(); ) {
    if (!isString(label.value)) {
      path.text("/labels/").number(label.index);
      refuse("todo-scan-invalid", "", "a label", "a string", label.value);
      return 0;
    }
    if (!category) category = categoryOfTag(label.value);
  }
  return category;
}

/** Refuses a member of the object at `path`; one that is missing leads to the object. */
function invalid(name: string, wanted: string, found: Value): void {
  const outside = path.length;
  if (found) path.text("/").text(name);
  refuse("todo-scan-invalid", "", name, wanted, found);
  path.truncate(outside);
}
