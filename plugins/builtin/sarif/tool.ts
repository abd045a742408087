/**
 * The tool of the run at hand: a driver and its extensions, each a component
 * with rules of its own.
 *
 * All of it is read once a run, so that a result finds its rule without a
 * search. Rules carry whole manual pages, so nothing of them is read twice.
 *
 * SARIF describes a tool's notifications as it describes its rules, so the same
 * functions read those if a run needs them: a rule below is either.
 */

import { Elements, Members, Value, countMembers, countOf, find, isFilledString } from "../../sdk/assemblyscript/cursor";
import { alloc } from "../../sdk/assemblyscript/memory";
import { NameTable } from "../../sdk/assemblyscript/names";
import { categoryOfRule } from "../../sdk/assemblyscript/mapping";
import { failed, path } from "../../sdk/assemblyscript/result";
import { Level, levelOf } from "./severity";
import { optionalArray, optionalObject, optionalString } from "./shape";
import { categoryOfTags } from "./tags";

/** The driver or an extension. */
@unmanaged
export class Component {
  /** The strings that messages name by id, whatever the rule. */
  strings: NameTable | null;
  rules: usize;
  count: i32;

  /** The rule at `index`, which may be negative; null if there is none. */
  ruleAt(index: i32): Rule | null {
    if (<u32>index >= <u32>this.count) return null;
    return changetype<Rule>(this.rules + <usize>index * offsetof<Rule>());
  }
}

@unmanaged
export class Rule {
  /** The id; 0 if the log leaves it out. */
  id: Value;
  /** The level of results that give none. */
  level: Level;
  /** The category that the configuration gives the rule; 0 if none. */
  category: Value;
  /** The category that the configuration gives one of the rule's tags; 0 if none. */
  tagged: Value;
  /** The strings that messages of the rule's results name by id. */
  strings: NameTable | null;
  component: Component;
  /** Whether the rule is known to be unmapped. */
  noted: bool;
}

/** Find components and rules. Of several rules with one id the first counts, and the driver's come first. */
export const componentsByGuid = changetype<NameTable>(memory.data(offsetof<NameTable>()));
export const rulesByGuid = changetype<NameTable>(memory.data(offsetof<NameTable>()));
export const rulesById = changetype<NameTable>(memory.data(offsetof<NameTable>()));

const member = changetype<Members>(memory.data(offsetof<Members>()));
const named = changetype<Members>(memory.data(offsetof<Members>()));
const entry = changetype<Elements>(memory.data(offsetof<Elements>()));
const extension = changetype<Elements>(memory.data(offsetof<Elements>()));

let components: usize = 0;
let count: i32 = 0;

/** What the rules that were read last are called, in messages and by the component that has them. */
export let noun: string = "rule";
let plural: string = "rules";

/** The driver at 0, then the extensions; null beyond. */
export function componentAt(index: i32): Component | null {
  if (<u32>index >= <u32>count) return null;
  return changetype<Component>(components + <usize>index * offsetof<Component>());
}

export function driver(): Component {
  return changetype<Component>(components);
}

/**
 * Reads the tool of the run at `path` in place of what was read last, or fails.
 * The last two say what to read of each component: rules or notifications.
 */
export function readTool(tool: Value, one: string, many: string): void {
  noun = one;
  plural = many;
  const extensions = optionalArray(find(tool, "extensions"), "extensions");
  componentsByGuid.reset(0);
  rulesByGuid.reset(0);
  rulesById.reset(0);
  count = 1 + countOf(extensions);
  components = alloc(<usize>count * offsetof<Component>());
  const outside = path.length;
  path.text("/tool/driver");
  readComponent(find(tool, "driver"), driver());
  if (extensions) {
    for (extension.of(extensions); !failed() && extension.next(); ) {
      path.truncate(outside);
      path.text("/tool/extensions/").number(extension.index);
      readComponent(extension.value, componentAt(extension.index + 1)!);
    }
  }
  if (!failed()) path.truncate(outside);
}

function readComponent(value: Value, component: Component): void {
  let rules: Value = 0;
  value = optionalObject(value, "an extension");
  if (!value) return;
  for (member.of(value); member.next(); ) {
    if (member.is(plural)) rules = optionalArray(member.value, plural);
    else if (member.is("guid")) addGuid(componentsByGuid, member.value, changetype<usize>(component));
    else if (member.is("globalMessageStrings")) component.strings = stringsOf(member.value, "globalMessageStrings");
  }
  component.count = countOf(rules);
  if (!component.count) return;
  component.rules = alloc(<usize>component.count * offsetof<Rule>());
  const outside = path.length;
  for (entry.of(rules); entry.next(); ) {
    path.text("/").text(plural).text("/").number(entry.index);
    readRule(entry.value, component.ruleAt(entry.index)!, component);
    if (failed()) return;
    path.truncate(outside);
  }
}

function readRule(value: Value, rule: Rule, component: Component): void {
  rule.component = component;
  value = optionalObject(value, noun);
  if (!value) return;
  for (member.of(value); member.next(); ) {
    if (member.is("id")) rule.id = isFilledString(member.value) ? member.value : 0;
    else if (member.is("guid")) addGuid(rulesByGuid, member.value, changetype<usize>(rule));
    else if (member.is("defaultConfiguration")) rule.level = configuredLevel(member.value);
    else if (member.is("messageStrings")) rule.strings = stringsOf(member.value, "messageStrings");
    else if (member.is("properties")) rule.tagged = categoryOfTags(member.value);
  }
  if (!rule.id) return;
  rule.category = categoryOfRule(rule.id);
  rulesById.add(rule.id, changetype<usize>(rule));
}

function addGuid(table: NameTable, value: Value, owner: usize): void {
  const guid = optionalString(value, "guid");
  if (guid) table.add(guid, owner);
}

function stringsOf(value: Value, name: string): NameTable | null {
  const object = optionalObject(value, name);
  if (!object) return null;
  const strings = changetype<NameTable>(alloc(offsetof<NameTable>()));
  strings.reset(countMembers(object));
  for (named.of(object); named.next(); ) strings.add(named.key, named.value);
  return strings;
}

/**
 * The level that a configuration gives a rule. Whether the rule is enabled
 * doesn't matter: if it has results, it was.
 */
export function configuredLevel(value: Value): Level {
  return levelOf(find(optionalObject(value, "a configuration"), "level"));
}
