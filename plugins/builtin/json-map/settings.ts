/**
 * The configuration: where the items are, and what their members mean.
 */

import {
  Elements, Members, Value, firstOf, isArray, isBoolean, isFalse, isObject, isString, says
} from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { allocSmall } from "../../sdk/assemblyscript/memory";
import { NameTable } from "../../sdk/assemblyscript/names";
import { failConfig, sentence } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { Kind, Pointer, readPattern, readRelative } from "./pointer";

/** Lists of {@link Pointer}; 0 if there is none. */
export let items: usize = 0;
export let failure: usize = 0;
export let file: usize = 0;
export let line: usize = 0;
export let position: usize = 0;
export let rule: usize = 0;
export let tag: usize = 0;
export let message: usize = 0;
export let details: usize = 0;
export let severity: usize = 0;

/** What each of the tool's severities is: `fail`, `risk` or `nit`. */
export const severities = changetype<NameTable>(memory.data(offsetof<NameTable>()));
/** Where the report has its verdict; 0 if the format has none. */
export let verdict: usize = 0;
/** What each verdict says: `clean`, `findings` or `any`. */
export const verdicts = changetype<NameTable>(memory.data(offsetof<NameTable>()));
/** A list of {@link Condition}: an item that meets one is skipped. */
export let skip: usize = 0;
/** Whether the report is JSON lines. */
export let lines: bool = false;
/** Whether a report without a line is a clean one. */
export let emptyIsClean: bool = false;

/** A condition: all of its tests. */
@unmanaged
export class Condition {
  next: usize;
  tests: usize;
}

/** A test: a place, and the value or array of values of which it must have one. */
@unmanaged
export class Test {
  next: usize;
  place: usize;
  wanted: Value;
}

const setting = changetype<Members>(memory.data(offsetof<Members>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const element = changetype<Elements>(memory.data(offsetof<Elements>()));
const inner = changetype<Elements>(memory.data(offsetof<Elements>()));
const shared = changetype<Writer>(memory.data(offsetof<Writer>()));

const TAKES = "it takes items, lines, empty, optional, failed, skip, file, line, position, rule, tag, message, details, severity, severities, verdict, verdicts, categories";

/** What {@link readList} has read. */
let list: usize = 0;

/** Reads the whole configuration. Returns false if it is refused. */
export function readSettings(config: Value): bool {
  let optional: usize = 0;
  let categories: Value = 0;
  let hasVerdicts = false;
  let table: Value = 0;
  let empty: Value = 0;
  for (setting.of(config); setting.next(); ) {
    const value = setting.value;
    let fine = true;
    if (setting.is("items")) {
      fine = readList(true);
      items = list;
    } else if (setting.is("optional")) {
      fine = readList(true);
      optional = list;
    } else if (setting.is("failed")) {
      fine = readList(true);
      failure = list;
    } else if (setting.is("file")) {
      fine = readList(false);
      file = list;
    } else if (setting.is("line")) {
      fine = readList(false);
      line = list;
    } else if (setting.is("position")) {
      fine = readList(false);
      position = list;
    } else if (setting.is("rule")) {
      fine = readList(false);
      rule = list;
    } else if (setting.is("tag")) {
      fine = readList(false);
      tag = list;
    } else if (setting.is("message")) {
      fine = readList(false);
      message = list;
    } else if (setting.is("details")) {
      fine = readList(false);
      details = list;
    } else if (setting.is("verdict")) {
      if (isString(value)) verdict = readPointer(value, true);
      else mustBe("", setting.key, "a JSON Pointer", value);
      fine = verdict != 0;
    } else if (setting.is("verdicts")) {
      hasVerdicts = true;
      fine = readWords(value, verdicts, "/verdicts", "clean, findings or any", "clean", "findings", "any");
    } else if (setting.is("severity")) {
      fine = readList(false);
      severity = list;
    } else if (setting.is("severities")) {
      table = value;
      fine = readWords(value, severities, "/severities", "fail, risk or nit", "fail", "risk", "nit");
    } else if (setting.is("skip")) {
      fine = readSkip(value);
    } else if (setting.is("lines")) {
      if (!isBoolean(value)) fine = mustBe("", setting.key, "true or false", value);
      lines = isBoolean(value) && !isFalse(value);
    } else if (setting.is("empty")) {
      empty = value;
      emptyIsClean = says(value, "clean");
      if (!emptyIsClean) fine = mustBe("", setting.key, "clean, or left out", value);
    } else if (setting.is("categories")) {
      categories = value;
    } else {
      fine = failConfig("", setting.key, sentence("json-map has no setting ").excerpt(setting.key), TAKES);
    }
    if (!fine) return false;
  }
  if (!items) return missing("items", "items: /*");
  if (!message) return missing("message", "message: /message");
  if (severity && !table) return missing("severities", "severities: {error: fail, warning: risk, info: nit}");
  if (table && !severity) return missing("severity", "severity: /severity");
  if (verdict && !hasVerdicts) return missing("verdicts", "verdicts: {pass: clean, fail: findings}");
  if (hasVerdicts && !verdict) return missing("verdict", "verdict: /verdict");
  if (position && (file || line)) {
    return failConfig("/position", 0, sentence("position stands for file and line, so neither of them can be set beside it"), "leave out either");
  }
  if (empty && !lines) {
    return failConfig(
      "/empty", 0, sentence("empty is for reports in lines, and lines is not true"),
      "leave it out: an empty list in one JSON document is clean anyway"
    );
  }
  return fit() && markOptional(optional) && readShared(categories);
}

/** Reads the current setting, a pointer or an array of them, into {@link list}. */
function readList(pattern: bool): bool {
  list = 0;
  const value = setting.value;
  if (isString(value)) {
    list = readPointer(value, pattern);
    return list != 0;
  }
  if (!firstOf(value)) {
    return mustBe("", setting.key, pattern ? "a JSON Pointer, or a list of them" : "a pointer, or a list of them", value);
  }
  let last: usize = 0;
  for (element.of(value); element.next(); ) {
    if (!isString(element.value)) return mustBe("", setting.key, "a list of texts", element.value);
    const pointer = readPointer(element.value, pattern);
    if (!pointer) return false;
    if (last) changetype<Pointer>(last).next = pointer;
    else list = pointer;
    last = pointer;
  }
  return true;
}

/** Reads one pointer of the current setting; 0 if it is refused. */
function readPointer(text: Value, pattern: bool): usize {
  const pointer = pattern ? readPattern(text) : readRelative(text);
  if (!pointer) {
    mustBe(
      "", setting.key,
      pattern
        ? "a JSON Pointer such as /results/*, of at most 16 steps"
        : "a JSON Pointer such as /location/row, or one that begins with the levels to go up, such as 2/path or 1#",
      text
    );
  }
  return pointer;
}

/** Checks that items begin with every line, no place is named twice, and no pointer leads above the report. */
function fit(): bool {
  for (let a = items; a; a = changetype<Pointer>(a).next) {
    const pattern = changetype<Pointer>(a);
    if (lines && (!pattern.count || pattern.step(0).kind != Kind.ELEMENTS)) {
      return failConfig(
        "/items", 0, sentence("lines is true, so items must begin with /*, but it has ").excerpt(pattern.text),
        "/* stands for every line, as in /*/results/*"
      );
    }
    for (let b = pattern.next; b; b = changetype<Pointer>(b).next) {
      if (overlap(pattern, changetype<Pointer>(b))) {
        return failConfig(
          "/items", 0, sentence("items names places twice: ").inside(pattern.text).text(" and ").inside(changetype<Pointer>(b).text),
          "leave out either"
        );
      }
    }
    if (!below(file, pattern, "/file") || !below(line, pattern, "/line") || !below(position, pattern, "/position")) return false;
    if (!below(rule, pattern, "/rule") || !below(tag, pattern, "/tag")) return false;
    if (!below(message, pattern, "/message") || !below(details, pattern, "/details") || !below(severity, pattern, "/severity")) return false;
    for (let c = skip; c; c = changetype<Condition>(c).next) {
      for (let t = changetype<Condition>(c).tests; t; t = changetype<Test>(t).next) {
        if (!below(changetype<Test>(t).place, pattern, "/skip")) return false;
      }
    }
  }
  return true;
}

function below(places: usize, pattern: Pointer, where: string): bool {
  for (let p = places; p; p = changetype<Pointer>(p).next) {
    const pointer = changetype<Pointer>(p);
    if (pointer.up > pattern.count || pointer.key && pointer.up == pattern.count) {
      return failConfig(
        where, 0, sentence("").excerpt(pointer.text).text(" leads above the report, as an item of ").inside(pattern.text)
          .text(" is at level ").number(pattern.count),
        "the number says how many levels to go up; each list and each object is one"
      );
    }
  }
  return true;
}

/** Whether two patterns can name the same place. */
function overlap(a: Pointer, b: Pointer): bool {
  if (a.count != b.count) return false;
  for (let i = 0; i < a.count; i++) {
    const x = a.step(i);
    const y = b.step(i);
    if (x.kind || y.kind) continue;
    if (!sameName(x.at, x.length, y.at, y.length)) return false;
  }
  return true;
}

function sameName(a: usize, aLength: i32, b: usize, bLength: i32): bool {
  return aLength == bLength && memory.compare(a, b, aLength) == 0;
}

/** Marks in the items' patterns what a clean report may lack. */
function markOptional(optional: usize): bool {
  for (let o = optional; o; o = changetype<Pointer>(o).next) {
    const pointer = changetype<Pointer>(o);
    let found = false;
    for (let p = items; p && pointer.count; p = changetype<Pointer>(p).next) {
      const pattern = changetype<Pointer>(p);
      if (!pointer.begins(pattern)) continue;
      pattern.step(pointer.count - 1).optional = true;
      found = true;
    }
    if (!found) {
      return failConfig(
        "/optional", 0, sentence("optional names ").excerpt(pointer.text).text(", which none of items begins with"),
        "name the list that a clean report lacks, such as /Results/*/Vulnerabilities for items below it"
      );
    }
  }
  return true;
}

/** Reads the current setting: which of three each of the tool's words is. `wanted` names the three. */
function readWords(words: Value, table: NameTable, where: string, wanted: string, one: string, two: string, three: string): bool {
  if (!isObject(words)) return mustBe("", setting.key, "an object from the tool's words to others", words);
  for (member.of(words); member.next(); ) {
    const word = member.value;
    if (!says(word, one) && !says(word, two) && !says(word, three)) return mustBe(where, member.key, wanted, word);
    table.add(member.key, word);
  }
  return true;
}

function readSkip(conditions: Value): bool {
  if (!isArray(conditions)) return mustBe("", setting.key, "a list of conditions, such as [{/reason: build-finished}]", conditions);
  let last: usize = 0;
  for (element.of(conditions); element.next(); ) {
    const condition = readCondition(element.value);
    if (!condition) return false;
    if (last) changetype<Condition>(last).next = condition;
    else skip = condition;
    last = condition;
  }
  return true;
}

/** Reads one condition; 0 if it is refused. */
function readCondition(tests: Value): usize {
  const condition = changetype<Condition>(allocSmall(offsetof<Condition>()));
  let last: usize = 0;
  if (isObject(tests)) {
    for (member.of(tests); member.next(); ) {
      const test = changetype<Test>(allocSmall(offsetof<Test>()));
      test.place = readPointer(member.key, false);
      test.wanted = member.value;
      if (!test.place || !readWanted(member.value)) return 0;
      if (last) changetype<Test>(last).next = changetype<usize>(test);
      else condition.tests = changetype<usize>(test);
      last = changetype<usize>(test);
    }
  }
  if (!last) {
    mustBe("", setting.key, "a list of conditions, each from pointers to values", tests);
    return 0;
  }
  return changetype<usize>(condition);
}

/** Checks what a test wants: a scalar or a list of some. */
function readWanted(wanted: Value): bool {
  if (!isArray(wanted)) return readScalar(wanted);
  if (!firstOf(wanted)) return mustBe("/skip", member.key, "a list of at least one", wanted);
  for (inner.of(wanted); inner.next(); ) {
    if (!readScalar(inner.value)) return false;
  }
  return true;
}

function readScalar(wanted: Value): bool {
  return !isObject(wanted) && !isArray(wanted)
    || mustBe("/skip", member.key, "text, a number, true, false or null, or a list of these", wanted);
}

/** Hands on the part of the configuration that all linters share. */
function readShared(categories: Value): bool {
  shared.text("{");
  if (categories) shared.text('"categories":').value(categories);
  shared.text("}");
  return readCategories(shared.start, "json-map", '"lint-violation"');
}

function missing(name: string, example: string): bool {
  shared.text('"').text(name).text('"');
  return failConfig(
    "", shared.start, sentence("the configuration lacks ").text(name).text(", such as ").text(example),
    "docs/json-map.md has configurations for common tools"
  );
}

function mustBe(where: string, key: Value, wanted: string, found: Value): bool {
  return failConfig(
    where, key, sentence(where).token(key).text(" must be ").text(wanted).text(", but it is ").excerpt(found), ""
  );
}
