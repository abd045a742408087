/**
 * The rules of the run at hand.
 *
 * Results refer to rules by index, or by id where a tool leaves the index out.
 * A log may have thousands of both, so the rules are read once a run, into a
 * table for look-ups by index; one for look-ups by id is built when it is first
 * asked for. Rules carry whole manual pages, so nothing of them is read twice.
 */

import { Elements, Value, countOf, find, isFilledString } from "../../sdk/assemblyscript/cursor";
import { alloc } from "../../sdk/assemblyscript/memory";
import { NameTable } from "../../sdk/assemblyscript/names";
import { failed, path } from "../../sdk/assemblyscript/result";
import { Severity, severityOf } from "./severity";
import { optionalArray, optionalObject } from "./shape";

const rule = changetype<Elements>(memory.data(offsetof<Elements>()));
const byId = changetype<NameTable>(memory.data(offsetof<NameTable>()));

/** Two words a rule: the address of its id, and its default severity. */
let table: usize = 0;
let count: i32 = 0;
let hasIds: bool = false;

/** Reads the rules of the driver at `path`, in place of those of the last run. */
export function readRules(driver: Value): void {
  const rules = optionalArray(find(driver, "rules"), "rules");
  const outside = path.length;
  count = countOf(rules);
  hasIds = false;
  if (!count) return;
  table = alloc(<usize>count << 3);
  for (rule.of(rules); rule.next(); ) {
    path.text("/tool/driver/rules/").number(rule.index);
    const entry = table + (<usize>rule.index << 3);
    const id = find(optionalObject(rule.value, "a rule"), "id");
    const defaults = optionalObject(find(rule.value, "defaultConfiguration"), "defaultConfiguration");
    store<u32>(entry, isFilledString(id) ? id : 0);
    store<u32>(entry, severityOf(find(defaults, "level")), 4);
    if (failed()) return;
    path.truncate(outside);
  }
}

/** Whether there is a rule at `index`, which may be negative. */
export function hasRule(index: i32): bool {
  return <u32>index < <u32>count;
}

/** The id of the rule at `index`, or 0. */
export function ruleIdAt(index: i32): Value {
  return load<u32>(table + (<usize>index << 3));
}

/** The default severity of the rule at `index`. */
export function severityAt(index: i32): Severity {
  return load<u32>(table + (<usize>index << 3), 4);
}

/** The index of the rule called `id`, or -1. */
export function ruleIndexOf(id: Value): i32 {
  if (!count) return -1;
  if (!hasIds) {
    byId.reset(count);
    for (let i = 0; i < count; i++) {
      // The table tells 0 from nothing, hence positions from 1.
      if (ruleIdAt(i)) byId.add(ruleIdAt(i), i + 1);
    }
    hasIds = true;
  }
  return <i32>byId.get(id) - 1;
}
