/**
 * Levels that an invocation gave rules instead of their defaults.
 */

import { Elements, Value, find, isObject, keep } from "../../sdk/assemblyscript/cursor";
import { NameTable } from "../../sdk/assemblyscript/names";
import { fail, failed, refuse, sentence } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { invocation, invocationIndex, nextInvocation, startInvocations } from "./invocations";
import { ruleOf } from "./rules";
import { Level } from "./severity";
import { optionalArray, optionalIndex, optionalObject } from "./shape";
import { Rule, configuredLevel, noun } from "./tool";

const entry = changetype<Elements>(memory.data(offsetof<Elements>()));
const levels = changetype<NameTable>(memory.data(offsetof<NameTable>()));
const key = changetype<Writer>(memory.data(offsetof<Writer>()));

/** Whether the run has overrides at all; most have none. */
let any: bool = false;
/** The invocation of results that name none: the only one, else none. */
let usual: i32 = -1;

/** Reads the overrides called `name` of the run at `path`, in place of those that were read last, or fails. */
export function readOverrides(invocations: Value, name: string): void {
  any = false;
  startInvocations(invocations);
  while (nextInvocation()) {
    const overrides = optionalArray(find(invocation, name), name);
    if (!overrides) continue;
    for (entry.of(overrides); entry.next(); ) readOverride(entry.value);
  }
  usual = invocationIndex ? -1 : 0;
}

function readOverride(value: Value): void {
  const descriptor = find(value, "descriptor");
  if (!isObject(descriptor)) refuse("sarif-invalid", "", "an override's descriptor", "an object", descriptor);
  const level = configuredLevel(find(value, "configuration"));
  const rule = ruleOf(descriptor, 0, 0);
  if (!level || !rule || failed()) return;
  if (!any) levels.reset(8);
  any = true;
  const name = nameOf(invocationIndex, rule);
  const other = <Level>levels.get(name);
  if (!other) levels.add(keep(name), level);
  else if (other != level) fail("sarif-invalid-rule", "", sentence("its ").text(noun).text(" has another level"), "", value);
}

/** The level that a result's invocation gave its rule; UNSAID if none. */
export function overriddenLevel(rule: Rule, provenance: Value): Level {
  if (!any) return Level.UNSAID;
  const index = optionalIndex(find(optionalObject(provenance, "provenance"), "invocationIndex"), "invocationIndex");
  return levelIn(index < 0 ? usual : index, rule);
}

/** The level that the invocation at an index gave a rule; UNSAID if none. */
export function levelIn(index: i32, rule: Rule): Level {
  return any ? <Level>levels.get(nameOf(index, rule)) : Level.UNSAID;
}

/** A name for the pair, as a JSON string. */
function nameOf(index: i32, rule: Rule): Value {
  key.truncate(0);
  return key.text('"').number(index).text(" ").number(<u32>changetype<usize>(rule)).text('"').start;
}
