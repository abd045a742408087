/**
 * The configuration: which category a rule's results have.
 *
 *     {"categories": {"rules": {"no-console": "style-drift"}, "default": "lint-violation"}}
 */

import { Members, Value, countMembers, isFilledString, isObject } from "../../sdk/assemblyscript/cursor";
import { NameTable } from "../../sdk/assemblyscript/names";
import { failConfig, sentence } from "../../sdk/assemblyscript/result";

const setting = changetype<Members>(memory.data(offsetof<Members>()));
const category = changetype<NameTable>(memory.data(offsetof<NameTable>()));
let fallback: Value = 0;

/** The category of a rule's results; 0 if the configuration names none. */
export function categoryOf(ruleId: Value): Value {
  const found = ruleId ? category.get(ruleId) : 0;
  return found ? found : fallback;
}

/** Reads the configuration. Returns false if it is refused. */
export function readConfig(config: Value): bool {
  let categories: Value = 0;
  for (setting.of(config); setting.next(); ) {
    if (!setting.is("categories")) return failUnknown("");
    categories = setting.value;
  }
  return !categories || readCategories(categories);
}

function readCategories(categories: Value): bool {
  if (!isObject(categories)) return failKind("/categories", 0, "an object", categories);
  let rules: Value = 0;
  for (setting.of(categories); setting.next(); ) {
    if (setting.is("rules")) {
      rules = setting.value;
    } else if (setting.is("default")) {
      fallback = setting.value;
      if (!isFilledString(fallback)) return failKind("/categories/default", 0, "a category", fallback);
    } else {
      return failUnknown("/categories");
    }
  }
  return !rules || readRules(rules);
}

function readRules(rules: Value): bool {
  if (!isObject(rules)) return failKind("/categories/rules", 0, "an object", rules);
  category.reset(countMembers(rules));
  for (setting.of(rules); setting.next(); ) {
    if (!isFilledString(setting.value)) {
      return failKind("/categories/rules", setting.key, "a category", setting.value);
    }
    category.add(setting.key, setting.value);
  }
  return true;
}

function failUnknown(where: string): bool {
  return failConfig(
    where, setting.key, sentence("sarif has no setting ").excerpt(setting.key),
    "it takes categories.rules and categories.default"
  );
}

function failKind(where: string, key: Value, wanted: string, found: Value): bool {
  const message = sentence(where);
  if (key) message.token(key);
  return failConfig(where, key, message.text(" must be ").text(wanted).text(", but it is ").excerpt(found), "");
}
