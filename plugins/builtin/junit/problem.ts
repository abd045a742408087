/**
 * A failure or an error, and the words for it.
 */

import { Members, Value, isObject, readText, sameText, says } from "../../sdk/assemblyscript/cursor";
import { categoryOfRule, categoryOfSeverity, categoryOfTag, writeCategory } from "../../sdk/assemblyscript/mapping";
import { beginFinding, endFinding, failed, refuse } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { Lines, writeClipped } from "../../sdk/assemblyscript/text";
import { writeFile } from "../../sdk/assemblyscript/file";
import { attribute, isWord } from "./shape";

/** How much of a line of output is passed on. */
const LIMIT = 400;

const member = changetype<Members>(memory.data(offsetof<Members>()));
const line = changetype<Lines>(memory.data(offsetof<Lines>()));
const word = changetype<Writer>(memory.data(offsetof<Writer>()));

/** How many findings there are so far. */
export let findings = 0;

let message: Value = 0;
let text: Value = 0;
let kind: Value = 0;

/** Writes the failure or error at `element` as a finding about a test, where `path` is, or fails. */
export function writeProblem(element: Value, isError: bool, classname: Value, name: Value, file: Value, lineNumber: u32): void {
  readProblem(element);
  if (failed()) return;
  word.truncate(0);
  const rule = word.text(isError ? '"error"' : '"failure"').start;
  let category = categoryOfRule(rule);
  if (!category) category = categoryOfTag(kind);
  if (!category) category = categoryOfSeverity(rule);

  const finding = beginFinding();
  // A test that fails is a verify-mismatch: to follow the default needs no note.
  writeCategory(finding, category, 0);
  finding.text(',"severity":"fail"');
  writeFile(finding, file);
  finding.text(',"line":');
  if (lineNumber) finding.number(lineNumber);
  else finding.text("null");
  finding.text(',"remediation":"');
  // Some have one name for both.
  if (classname && name && sameText(classname, name)) name = 0;
  if (classname) finding.inside(classname);
  if (classname && name) finding.text(".");
  if (name) finding.inside(name);
  if (classname || name) finding.text(": ");
  if (!writeReason(finding)) finding.text("failed");
  finding.text('"');
  endFinding();
  findings++;
}

/** Reads an element that says how a test ended; 0 for none. */
export function readProblem(element: Value): void {
  message = 0;
  text = 0;
  kind = 0;
  if (!element) return;
  if (!isObject(element)) {
    refuse("junit-invalid", "", "a failure, an error or the like", "an element", element);
    return;
  }
  for (member.of(element); member.next(); ) {
    if (member.is("@message")) message = attribute(member);
    else if (member.is("#text")) text = attribute(member);
    else if (member.is("@type")) kind = attribute(member);
  }
}

/**
 * Writes why, inside a string: the message, else the first line of the text
 * that says more than where a test began or ended, and what it introduces. Go's
 * producers have the same message for all, and so has Boost.Test. Returns false
 * if there is neither.
 */
export function writeReason(out: Writer): bool {
  if (message && saysSomething(message)) {
    line.of(message);
    if (line.next() && !line.begins("=== ")) {
      out.inside(message);
      return true;
    }
    if (writeLines(out, message)) return true;
  }
  return text != 0 && writeLines(out, text);
}

function saysSomething(message: Value): bool {
  readText(message);
  return !isWord("failed") && !isWord("failure") && !isWord("error");
}

/** Writes the first telling line of a text and, where it ends with a colon, those behind it. */
function writeLines(out: Writer, text: Value): bool {
  const start = out.length;
  for (line.of(text); line.next(); ) {
    if (line.begins("=== ") || line.begins("--- ") || line.stop - line.at == 4 && line.begins("PASS")) continue;
    const introduced = out.length > start;
    if (introduced) out.text(" ");
    writeClipped(out, line.at, line.stop, LIMIT - (out.length - start));
    if (!introduced && load<u8>(line.stop - 1) != 0x3a || out.length - start >= LIMIT) return true;
  }
  return out.length > start;
}

/** Whether the element that was read last is one of a test that is expected to fail. */
export function isToDo(): bool {
  return kind != 0 && says(kind, "todo");
}
