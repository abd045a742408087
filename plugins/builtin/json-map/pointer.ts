/**
 * The JSON Pointers of the configuration, read once and then followed for every
 * item.
 */

import {
  Elements, Members, Value, isArray, isObject, readText, sameBytes, textAt, textLength
} from "../../sdk/assemblyscript/cursor";
import { allocSmall } from "../../sdk/assemblyscript/memory";

/** What a step leads to: the value of one name, every element, or every member's value. */
export enum Kind { NAME, ELEMENTS, MEMBERS }

/** The host takes patterns of as many steps. */
export const MAX_STEPS = 16;

/** One step of a pointer. */
@unmanaged
export class Step {
  /** The name, unescaped. */
  at: usize;
  length: i32;
  kind: Kind;
  /** Whether a clean report may lack what this step leads to. */
  optional: bool;
}

/** A pointer of the configuration. */
@unmanaged
export class Pointer {
  /** As the configuration has it. */
  text: Value;
  /** The next one of its list, 0 behind the last. */
  next: usize;
  /** How many levels above the item it begins. */
  up: i32;
  /** Whether it means the name or the number of the place, and not what is there. */
  key: bool;
  private steps: usize;
  count: i32;

  step(i: i32): Step {
    return changetype<Step>(this.steps + <usize>i * offsetof<Step>());
  }

  /** Reads the steps from `at` to `end`. Returns whether that is a JSON Pointer of at most {@link MAX_STEPS}. */
  read(at: usize, end: usize, wild: bool): bool {
    if (at == end) return true;
    if (load<u8>(at) != SLASH) return false;
    for (let i = at; i < end; i++) this.count += i32(load<u8>(i) == SLASH);
    if (this.count > MAX_STEPS) return false;
    this.steps = allocSmall(<usize>this.count * offsetof<Step>());
    for (let i = 0; i < this.count; i++) {
      let stop = ++at;
      while (stop < end && load<u8>(stop) != SLASH) stop++;
      const step = this.step(i);
      if (wild && is(at, stop, "*")) step.kind = Kind.ELEMENTS;
      else if (wild && is(at, stop, "{*}")) step.kind = Kind.MEMBERS;
      else if (!readName(step, at, stop)) return false;
      at = stop;
    }
    return true;
  }

  /** Whether the first steps of `other`, as many as it has itself, are the same. */
  begins(other: Pointer): bool {
    if (this.count > other.count) return false;
    for (let i = 0; i < this.count; i++) {
      const a = this.step(i);
      const b = other.step(i);
      if (a.kind != b.kind || a.length != b.length || !sameBytes(a.at, b.at, a.length)) return false;
    }
    return true;
  }
}

const SLASH: u8 = 0x2f;
const TILDE: u8 = 0x7e;

const member = changetype<Members>(memory.data(offsetof<Members>()));
const element = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Reads a pattern: a JSON Pointer with wildcards. 0 if it is none. */
export function readPattern(text: Value): usize {
  readText(text);
  const pointer = changetype<Pointer>(allocSmall(offsetof<Pointer>()));
  pointer.text = text;
  return pointer.read(textAt, textAt + textLength, true) ? changetype<usize>(pointer) : 0;
}

/**
 * Reads a pointer that is relative to an item: a JSON Pointer, or a number of
 * levels to go up and then a JSON Pointer or `#`, which means the name or number
 * of the place. 0 if it is neither.
 */
export function readRelative(text: Value): usize {
  readText(text);
  let at = textAt;
  const end = textAt + textLength;
  const pointer = changetype<Pointer>(allocSmall(offsetof<Pointer>()));
  pointer.text = text;
  const first = at;
  for (; at < end && at - first < 2; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) break;
    pointer.up = pointer.up * 10 + digit;
  }
  if (at > first && is(at, end, "#")) {
    pointer.key = true;
    return changetype<usize>(pointer);
  }
  return pointer.read(at, end, false) ? changetype<usize>(pointer) : 0;
}

/** Where a step leads from `value`; 0 if to nothing. */
export function follow(value: Value, step: Step): Value {
  if (isObject(value)) {
    for (member.of(value); member.next(); ) {
      readText(member.key);
      if (textLength == step.length && sameBytes(textAt, step.at, textLength)) return member.value;
    }
  } else if (isArray(value)) {
    const wanted = indexOf(step);
    for (element.of(value); wanted >= 0 && element.next(); ) {
      if (element.index == wanted) return element.value;
    }
  }
  return 0;
}

/** The index of an array that a name is, as RFC 6901 writes it; -1 if it is none. */
export function indexOf(step: Step): i32 {
  if (step.length < 1 || step.length > 9 || step.length > 1 && load<u8>(step.at) == 0x30) return -1;
  let index = 0;
  for (let i = 0; i < step.length; i++) {
    const digit = <i32>load<u8>(step.at + i) - 0x30;
    if (<u32>digit > 9) return -1;
    index = index * 10 + digit;
  }
  return index;
}

/** Reads a name with its escapes, `~0` and `~1`. Returns whether they are right. */
function readName(step: Step, at: usize, end: usize): bool {
  step.at = allocSmall(end - at);
  for (; at < end; at++) {
    let byte = load<u8>(at);
    if (byte == TILDE) {
      const escape = ++at < end ? load<u8>(at) : 0;
      if (escape != 0x30 && escape != 0x31) return false;
      byte = escape == 0x30 ? TILDE : SLASH;
    }
    store<u8>(step.at + step.length++, byte);
  }
  return true;
}

function is(at: usize, end: usize, literal: string): bool {
  if (end - at != literal.length) return false;
  for (let i = 0; i < literal.length; i++) {
    if (load<u8>(at + i) != load<u8>(changetype<usize>(literal) + (<usize>i << 1))) return false;
  }
  return true;
}
