/**
 * What a result's message says.
 *
 * A message holds its text, or the id of a message string that its rule or the
 * rule's component keeps. Placeholders are filled in where the message brings
 * arguments or the text is a message string; in any other text braces are braces,
 * because that is how tools without arguments write them.
 */

import {
  Elements, Members, Value, find, isFilledString, isString, readText, textAt, textLength
} from "../../sdk/assemblyscript/cursor";
import { alloc, regrow } from "../../sdk/assemblyscript/memory";
import { NameTable } from "../../sdk/assemblyscript/names";
import { fail, refuse, sentence } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { optionalArray, optionalObject, optionalString } from "./shape";
import { Rule, driver } from "./tool";

const member = changetype<Members>(memory.data(offsetof<Members>()));
const argument = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Whether the text that {@link textOf} found last has placeholders. */
let formatted: bool = false;

/** The arguments that fill them in: their addresses, in room that the next message reuses, and how many there are. */
let values: usize = 0;
let room: i32 = 0;
let count: i32 = 0;

/** The text of a message, for {@link writeText}; 0 if there is none. Fails where it is missing but promised. */
export function textOf(value: Value, rule: Rule | null): Value {
  const message = optionalObject(value, "message");
  formatted = false;
  count = 0;
  if (!message) return 0;
  let text: Value = 0;
  let markdown: Value = 0;
  let id: Value = 0;
  let list: Value = 0;
  for (member.of(message); member.next(); ) {
    if (member.is("text")) text = optionalString(member.value, "text");
    else if (member.is("markdown")) markdown = optionalString(member.value, "markdown");
    else if (member.is("id")) id = optionalString(member.value, "id");
    else if (member.is("arguments")) list = optionalArray(member.value, "arguments");
  }
  if (list) readArguments(list);
  if (text) return text;
  if (markdown || !id) return markdown;
  return stringOf(id, rule);
}

/** The message string called `id`: the rule's, else its component's, else the driver's. */
function stringOf(id: Value, rule: Rule | null): Value {
  formatted = true;
  let found: Value = 0;
  if (rule) {
    found = lookUp(rule.strings, id);
    if (!found) found = lookUp(rule.component.strings, id);
  }
  if (!found) found = lookUp(driver().strings, id);
  const text = find(found, "text");
  if (!isFilledString(text)) {
    fail("sarif-invalid-message", "", sentence("its tool has no text for the message string ").excerpt(id), "", found);
  }
  return text;
}

function lookUp(strings: NameTable | null, id: Value): Value {
  return strings ? strings.get(id) : 0;
}

function readArguments(list: Value): void {
  formatted = true;
  for (argument.of(list); argument.next(); count++) {
    if (!isString(argument.value)) {
      refuse("sarif-invalid-message", "", "an argument of a message", "a string", argument.value);
    }
    if (count == room) {
      room = max(room << 1, 16);
      values = count ? regrow(values, <usize>count << 2, <usize>room << 2) : alloc(<usize>room << 2);
    }
    store<u32>(values + (<usize>count << 2), argument.value);
  }
}

/** Appends a text to a JSON string, its placeholders filled in. */
export function writeText(out: Writer, text: Value): void {
  if (!formatted) {
    out.inside(text);
    return;
  }
  readText(text);
  const end = textAt + textLength;
  let from = textAt; // not written yet
  for (let at = from; at < end; at++) {
    const byte = load<u8>(at);
    if (byte != 0x7b && byte != 0x7d) continue;
    if (at + 1 < end && load<u8>(at, 1) == byte) { // {{ or }}
      out.plain(from, ++at - from);
      from = at + 1;
    } else if (byte == 0x7b) {
      const close = digitsEnd(at + 1, end);
      if (close == at + 1 || close == end || load<u8>(close) != 0x7d) continue;
      out.plain(from, at - from);
      writeArgument(out, at + 1, close, text);
      at = close;
      from = close + 1;
    }
  }
  out.plain(from, end - from);
}

function digitsEnd(at: usize, end: usize): usize {
  while (at < end && <u32>load<u8>(at) - 0x30 < 10) at++;
  return at;
}

/** Appends the argument whose index stands at `at` in digits. */
function writeArgument(out: Writer, at: usize, end: usize, text: Value): void {
  let index: u64 = 0;
  for (; at < end && index <= u32.MAX_VALUE; at++) index = index * 10 + load<u8>(at) - 0x30;
  if (index < <u64>count) {
    out.inside(load<u32>(values + (<usize>index << 2)));
    return;
  }
  fail("sarif-invalid-message", "", sentence("a message has too few arguments: ").excerpt(text), "", text);
}
