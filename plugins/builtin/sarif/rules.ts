/**
 * Which rule a result means.
 *
 * SARIF refers to a rule by its index in a component, or by its GUID. Many
 * tools only give its id, so that is looked up, too; there the rule may be one
 * level up, `CA1000` for `CA1000/1`.
 */

import { Members, Value, readText, sameBytes, sameText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { fail, refuse, sentence } from "../../sdk/assemblyscript/result";
import { optionalIndex, optionalObject, optionalString } from "./shape";
import { Component, Rule, componentAt, componentsByGuid, driver, noun, rulesByGuid, rulesById } from "./tool";

const member = changetype<Members>(memory.data(offsetof<Members>()));

/** The id that {@link ruleOf} found last: the one given, or the reference's; 0 if there is none. */
export let ruleId: Value = 0;

/**
 * The rule that a reference leads to; null if the log does not describe it.
 * Fails where the reference contradicts itself or the id and the index that
 * stand beside it. An index that leads nowhere says nothing, as long as there
 * is an id.
 */
export function ruleOf(reference: Value, id: Value, index: Value): Rule | null {
  ruleId = optionalString(id, "ruleId");
  let position = optionalIndex(index, "ruleIndex");
  let guid: Value = 0;
  let component: Component | null = driver();
  let anyComponent = true;
  reference = optionalObject(reference, noun);
  if (reference) {
    let otherId: Value = 0;
    let otherIndex: Value = 0;
    let toolComponent: Value = 0;
    for (member.of(reference); member.next(); ) {
      if (member.is("id")) otherId = optionalString(member.value, "id");
      else if (member.is("index")) otherIndex = member.value;
      else if (member.is("guid")) guid = optionalString(member.value, "guid");
      else if (member.is("toolComponent")) toolComponent = optionalObject(member.value, "toolComponent");
    }
    if (!ruleId) ruleId = otherId;
    else if (otherId && !sameText(ruleId, otherId)) failConflict(ruleId, otherId);
    const other = optionalIndex(otherIndex, "index");
    if (position < 0) {
      position = other;
      index = otherIndex;
    } else if (other >= 0 && other != position) {
      failConflict(index, otherIndex);
    }
    if (toolComponent) {
      component = componentOf(toolComponent);
      anyComponent = false;
    }
  }

  let rule: Rule | null = component ? component.ruleAt(position) : null;
  if (!rule && guid) rule = changetype<Rule | null>(rulesByGuid.get(guid));
  if (rule) {
    if (ruleId && rule.id && !isAtOrBelow(ruleId, rule.id)) failConflict(ruleId, rule.id);
    return rule;
  }
  if (ruleId) {
    rule = ruleWithId(ruleId);
    return rule && (anyComponent || rule.component == component) ? rule : null;
  }
  if (position >= 0 || guid) {
    refuse("sarif-invalid-rule", "", noun, "one that the tool describes", position >= 0 ? index : guid);
  }
  return null;
}

function failConflict(one: Value, other: Value): void {
  fail("sarif-invalid-rule", "", sentence("its ").text(noun).text(" is ").excerpt(one).text(", but also ").excerpt(other), "", other);
}

/** The component that a reference leads to; null if there is none. */
function componentOf(reference: Value): Component | null {
  let position = -1;
  let guid: Value = 0;
  for (member.of(reference); member.next(); ) {
    if (member.is("index")) position = optionalIndex(member.value, "index");
    else if (member.is("guid")) guid = optionalString(member.value, "guid");
  }
  if (position >= 0) return componentAt(position + 1);
  return guid ? changetype<Component | null>(componentsByGuid.get(guid)) : driver();
}

/** The rule called `id` or, where there is none, the one that `id` without its last component names. */
function ruleWithId(id: Value): Rule | null {
  readText(id);
  let length = textLength;
  let found = rulesById.getText(textAt, length);
  if (!found) {
    while (length && load<u8>(textAt + --length) != 0x2f) {}
    if (length) found = rulesById.getText(textAt, length);
  }
  return changetype<Rule | null>(found);
}

/** Whether an id is the rule's, or one below it. */
function isAtOrBelow(id: Value, rule: Value): bool {
  readText(rule);
  const at = textAt;
  const length = textLength;
  readText(id);
  return textLength >= length && sameBytes(at, textAt, length)
    && (textLength == length || load<u8>(textAt + length) == 0x2f);
}
