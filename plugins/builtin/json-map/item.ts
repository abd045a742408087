/**
 * One item: a finding, or one that the configuration skips.
 */

import {
  Elements, Value, endOf, isAbsent, isArray, isBlank, isBoolean, isObject, isFilledString, isString, sameBytes, sameText,
  wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, writeCategory } from "../../sdk/assemblyscript/mapping";
import { beginFinding, beginSkipped, endFinding, endSkipped, fail, failed, refuse, sentence } from "../../sdk/assemblyscript/result";
import { digits } from "../../sdk/assemblyscript/number";
import { Lines } from "../../sdk/assemblyscript/text";
import { Writer } from "../../sdk/assemblyscript/writer";
import { writeFile } from "../../sdk/assemblyscript/file";
import { Pointer } from "./pointer";
import { Condition, Test, details, file, line, message, position, rule, severities, severity, skip, tag } from "./settings";
import { resolve } from "./walk";

/** Tells a message with words from one of white space. */
const words = changetype<Lines>(memory.data(offsetof<Lines>()));
const alternative = changetype<Elements>(memory.data(offsetof<Elements>()));
/** What is put together of each, until the next item. */
const ruleText = changetype<Writer>(memory.data(offsetof<Writer>()));
const tagText = changetype<Writer>(memory.data(offsetof<Writer>()));
const severityText = changetype<Writer>(memory.data(offsetof<Writer>()));
const fileText = changetype<Writer>(memory.data(offsetof<Writer>()));
const scratch = changetype<Writer>(memory.data(offsetof<Writer>()));

/** The line at hand; 0 if there is none. */
let lineNumber: i32 = 0;

/** Writes the item at `value`, where `path` is, or fails. */
export function normalizeItem(value: Value): void {
  const condition = metBy();
  if (condition) {
    skipped(condition);
    return;
  }
  const ruleName = textOf(rule, "the rule", ruleText);
  const tagName = textOf(tag, "the tag", tagText);
  const word = textOf(severity, "the severity", severityText);
  const found = positionOf();
  const text = messageOf(value);
  const grade = gradeOf(word);
  if (failed()) return;

  let category = categoryOfRule(ruleName);
  if (!category) category = categoryOfTag(tagName);
  if (!category) category = categoryOfSeverity(word);

  const finding = beginFinding();
  writeCategory(finding, category, ruleName);
  finding.text(',"severity":').valueOr(grade, '"fail"');
  writeFile(finding, found);
  finding.text(',"line":');
  if (lineNumber) finding.number(lineNumber);
  else finding.text("null");
  finding.text(',"remediation":"');
  if (ruleName) finding.inside(ruleName).text(": ");
  finding.inside(text);
  for (let p = details; p; p = changetype<Pointer>(p).next) {
    const detail = resolve(changetype<Pointer>(p), scratch);
    if (isFilledString(detail)) finding.text(endsWithStop(finding) ? " " : ": ").inside(detail);
    else if (!isBlank(detail)) refuse("json-map-invalid", "", "a detail", "text", detail);
  }
  finding.text('"');
  endFinding();
}

/** The first of the places of a list that isn't empty, as text; 0 if there is none. */
function textOf(places: usize, what: string, into: Writer): Value {
  for (let p = places; p; p = changetype<Pointer>(p).next) {
    const value = resolve(changetype<Pointer>(p), into);
    if (isBlank(value)) continue;
    if (isString(value)) return value;
    // A severity or a tag may be a flag.
    if (isObject(value) || isArray(value) || isBoolean(value) && (places == file || places == position)) {
      refuse("json-map-invalid", "", what, "text or a number", value);
      return 0;
    }
    into.truncate(0);
    return into.text('"').value(value).text('"').start;
  }
  return 0;
}

function messageOf(item: Value): Value {
  for (let p = message; p; p = changetype<Pointer>(p).next) {
    const value = resolve(changetype<Pointer>(p), scratch);
    if (isString(value)) {
      words.of(value);
      if (words.next()) return value;
    } else if (!isAbsent(value)) {
      refuse("json-map-invalid", "", "the message", "text", value);
      return 0;
    }
  }
  const text = sentence("the item has no message at ");
  for (let p = message; p; p = changetype<Pointer>(p).next) {
    if (p != message) text.text(" or ");
    text.excerpt(changetype<Pointer>(p).text);
  }
  fail(
    "json-map-invalid", "", text,
    "if such items are no findings, say in skip how they are told; else correct message in the configuration", item
  );
  return 0;
}

/** The file, 0 if there is none; the line is in `lineNumber`. */
function positionOf(): Value {
  lineNumber = 0;
  if (!position) {
    const found = textOf(file, "the file", fileText);
    for (let p = line; p && !lineNumber; p = changetype<Pointer>(p).next) readLine(resolve(changetype<Pointer>(p), scratch));
    return found;
  }
  const whole = textOf(position, "the position", fileText);
  if (!whole) return 0;
  // A position is FILE, FILE:LINE or FILE:LINE:COLUMN, a range may follow, and a file may hold colons.
  const start = whole + 1;
  const end = withoutRange(start, endOf(whole) - 1);
  const last = lastNumber(start, end);
  if (!last) return whole;
  const before = lastNumber(start, last);
  const stop = before ? before : last;
  readLine(quoted(stop + 1, before ? last : end));
  fileText.truncate(0);
  return fileText.text('"').bytes(start, stop - start).text('"').start;
}

function endsWithStop(text: Writer): bool {
  return load<u8>(text.start + text.length - 1) == 0x2e;
}

/** The end of a position without the end of a range, which is a line, a column, or a line with a column. */
function withoutRange(start: usize, end: usize): usize {
  const dash = dashOf(start, end);
  if (dash) end = dash;
  const last = lastNumber(start, end);
  const before = last ? dashOf(start, last) : 0;
  return before ? before : end;
}

/** The dash between a number behind a colon and the last number; 0 if there is none. */
function dashOf(start: usize, end: usize): usize {
  let at = end;
  while (at > start && <u32>load<u8>(at - 1) - 0x30 <= 9) at--;
  return at < end && at > start && load<u8>(at - 1) == 0x2d && lastNumber(start, at - 1) ? at - 1 : 0;
}

function quoted(from: usize, to: usize): Value {
  scratch.truncate(0);
  return scratch.text('"').bytes(from, to - from).text('"').start;
}

/** The colon behind which only digits follow; 0 if there is none, or nothing before it. */
function lastNumber(start: usize, end: usize): usize {
  let at = end;
  while (at > start && <u32>load<u8>(at - 1) - 0x30 <= 9) at--;
  return at < end && at > start + 1 && load<u8>(at - 1) == 0x3a ? at - 1 : 0;
}

/** Reads a line: a number, or one in quotes. Tools write 0 for none. */
function readLine(value: Value): void {
  if (isBlank(value)) return;
  const number = isString(value) ? digits(value) : wholeNumber(value);
  if (number < 0) {
    refuse("json-map-invalid-line", "", "the line", "a whole number from 0 to 2147483647 in plain digits", value);
    return;
  }
  lineNumber = number;
}

/** The severity that the configuration gives the tool's word; 0 if the tool says none. */
function gradeOf(word: Value): Value {
  if (!word) return 0;
  const grade = severities.get(word);
  if (!grade) {
    fail(
      "json-map-unknown-severity", "", sentence("the severity ").excerpt(word).text(" is not in the configuration's severities"),
      "add it to severities, as fail, risk or nit", word
    );
  }
  return grade;
}

/** The first condition of `skip` that the item meets; 0 if none. */
function metBy(): usize {
  for (let c = skip; c; c = changetype<Condition>(c).next) {
    let met = true;
    for (let t = changetype<Condition>(c).tests; t && met; t = changetype<Test>(t).next) met = passes(changetype<Test>(t));
    if (met) return c;
  }
  return 0;
}

function passes(test: Test): bool {
  const value = resolve(changetype<Pointer>(test.place), scratch);
  if (!isArray(test.wanted)) return matches(test.wanted, value);
  for (alternative.of(test.wanted); alternative.next(); ) {
    if (matches(alternative.value, value)) return true;
  }
  return false;
}

/** Whether a value is the scalar that is wanted; null is one that is not there, too. */
function matches(wanted: Value, value: Value): bool {
  if (isAbsent(wanted)) return isAbsent(value);
  if (isString(wanted)) return isString(value) && sameText(wanted, value);
  const length = endOf(wanted) - wanted;
  return value && endOf(value) - value == length && sameBytes(wanted, value, <i32>length);
}

/** Skips the item, and says by which condition. */
function skipped(condition: usize): void {
  const out = beginSkipped();
  for (let t = changetype<Condition>(condition).tests; t; t = changetype<Test>(t).next) {
    const test = changetype<Test>(t);
    if (t != changetype<Condition>(condition).tests) out.text(", ");
    out.inside(changetype<Pointer>(test.place).text).text(": ");
    if (!isArray(test.wanted)) writeWanted(out, test.wanted);
    else {
      const value = resolve(changetype<Pointer>(test.place), scratch);
      for (alternative.of(test.wanted); alternative.next(); ) {
        if (!matches(alternative.value, value)) continue;
        writeWanted(out, alternative.value);
        break;
      }
    }
  }
  endSkipped();
}

function writeWanted(out: Writer, wanted: Value): void {
  if (isString(wanted)) out.inside(wanted);
  else out.value(wanted);
}
