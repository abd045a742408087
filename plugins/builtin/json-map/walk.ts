/**
 * The walk over everything in a report that a pattern names.
 */

import {
  Elements, Members, Value, firstOf, isAbsent, isArray, isBlank, isFalse, isObject, wholeNumber
} from "../../sdk/assemblyscript/cursor";
import { fail, failed, path, sentence } from "../../sdk/assemblyscript/result";
import { alloc } from "../../sdk/assemblyscript/memory";
import { Writer } from "../../sdk/assemblyscript/writer";
import { Kind, MAX_STEPS, Pointer, Step, follow, indexOf } from "./pointer";
import { normalizeItem } from "./item";

/** A value on the way to the one at hand, which it contains. */
@unmanaged
class Level {
  value: Value;
  /** The name of the member that it is; 0 if the pattern names it, or it is an element. */
  key: Value;
  /** The element that it is. */
  index: i32;
}

/** The levels of the way, and a walker for each. */
let levels: usize = 0;
let members: usize = 0;
let elements: usize = 0;

let pattern: Pointer = changetype<Pointer>(0);
/** Whether what the pattern leads to are items; else it says that the tool failed. */
let findings: bool = false;

function level(depth: i32): Level {
  return changetype<Level>(levels + <usize>depth * offsetof<Level>());
}

/** Normalizes all items of a pattern or, where they are `failures`, fails at the first. */
export function walk(over: Pointer, report: Value, items: bool): void {
  if (!levels) {
    levels = alloc((MAX_STEPS + 1) * offsetof<Level>());
    members = alloc(MAX_STEPS * offsetof<Members>());
    elements = alloc(MAX_STEPS * offsetof<Elements>());
  }
  pattern = over;
  findings = items;
  path.truncate(0);
  descend(0, report);
}

/** Goes on from the value that `depth` steps have led to. */
function descend(depth: i32, value: Value): void {
  level(depth).value = value;
  if (depth == pattern.count) {
    arrive(value);
    return;
  }
  const step = pattern.step(depth);
  const outside = path.length;
  switch (step.kind) {
    case Kind.ELEMENTS: {
      if (!isArray(value)) {
        lacking(depth, "an array", value);
        return;
      }
      const element = changetype<Elements>(elements + <usize>depth * offsetof<Elements>());
      for (element.of(value); !failed() && element.next(); path.truncate(outside)) {
        path.text("/").number(element.index);
        level(depth + 1).index = element.index;
        descend(depth + 1, element.value);
        if (failed()) return;
      }
      return;
    }
    case Kind.MEMBERS: {
      if (!isObject(value)) {
        lacking(depth, "an object", value);
        return;
      }
      const member = changetype<Members>(members + <usize>depth * offsetof<Members>());
      for (member.of(value); member.next(); path.truncate(outside)) {
        path.token(member.key);
        level(depth + 1).key = member.key;
        descend(depth + 1, member.value);
        if (failed()) return;
      }
      return;
    }
    default: {
      // An array can lack an index, and so an optional item. For another name it is the wrong kind of value.
      if (!isObject(value) && !(isArray(value) && indexOf(step) >= 0)) {
        lacking(depth, "an object", value);
        return;
      }
      writeName(path.text("/"), step, true);
      const found = follow(value, step);
      if (found) descend(depth + 1, found);
      else lacking(depth + 1, "there", 0);
      if (!failed()) path.truncate(outside);
    }
  }
}

/** Takes what the whole pattern has led to. */
function arrive(value: Value): void {
  if (findings) {
    normalizeItem(value);
  } else if (!isBlank(value) && !isFalse(value) && wholeNumber(value) != 0) {
    fail(
      "json-map-tool-failed", "", sentence("the report says that the tool failed: ").excerpt(value),
      "run the tool again once it works; failed in its configuration names this place", value
    );
  }
}

/** Fails where `value`, which `depth` steps have led to, isn't what the next one needs, unless it may be missing. */
function lacking(depth: i32, wanted: string, value: Value): void {
  if (isAbsent(value) && (!findings || depth > 0 && pattern.step(depth - 1).optional)) return;
  const message = sentence(path.length ? "" : "the report");
  message.writer(path).text(" must be ").text(wanted).text(", as the configuration's ")
    .text(findings ? "items" : "failed").text(" has ").inside(pattern.text).text(", but it is ").excerpt(value);
  const hint = isArray(value) && !firstOf(value)
    ? "if the tool writes [] for an object without members, as PHP does, use another format of it, such as PHPStan's checkstyle; else correct the configuration"
    : "check that the whole report of this tool was given; if a clean report lacks this place, list it in optional";
  fail("json-map-no-items", "", message, hint, value);
}

function writeName(out: Writer, step: Step, escaped: bool): void {
  for (let at = step.at; at < step.at + step.length; at++) {
    const byte = load<u8>(at);
    if (escaped && byte == 0x7e) out.text("~0");
    else if (escaped && byte == 0x2f) out.text("~1");
    else out.plain(at, 1);
  }
}

/** Where a relative pointer leads from the item at hand; 0 if to nothing. What it puts together is in `scratch`. */
export function resolve(pointer: Pointer, scratch: Writer): Value {
  const depth = pattern.count - pointer.up;
  if (depth < 0) return 0;
  if (pointer.key) return keyOf(depth, scratch);
  let value = level(depth).value;
  for (let i = 0; value && i < pointer.count; i++) value = follow(value, pointer.step(i));
  return value;
}

/** The name or number of the value that `depth` steps have led to, as a string. */
function keyOf(depth: i32, scratch: Writer): Value {
  if (!depth) return 0;
  const step = pattern.step(depth - 1);
  if (step.kind == Kind.MEMBERS) return level(depth).key;
  scratch.truncate(0);
  scratch.text('"');
  if (step.kind == Kind.ELEMENTS) scratch.number(level(depth).index);
  else writeName(scratch, step, false);
  return scratch.text('"').start;
}
