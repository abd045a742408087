/**
 * The configuration that all linters' normalizers share: which category the
 * findings of a rule, a tag or a severity have.
 *
 *     {"categories": {
 *       "default": "lint-violation",
 *       "rules": {"no-unused-vars": "dead-code"},
 *       "tags": {"security": "silenced-failure"},
 *       "severities": {"warning": "style"}
 *     }}
 *
 * A guest asks in the order that users are promised: the rule, then each of
 * the finding's tags, then the severity in the tool's own word.
 *
 *     let category = categoryOfRule(rule);
 *     if (!category) category = categoryOfSeverity(severity);
 *     writeCategory(beginFinding(), category, rule);
 */

import { Members, Value, isBlank, isFilledString, isObject, keep, says } from "./cursor";
import { NameTable } from "./names";
import { failConfig, noteUnmapped, sentence } from "./result";
import { Writer } from "./writer";

const setting = changetype<Members>(memory.data(offsetof<Members>()));
const name = changetype<Members>(memory.data(offsetof<Members>()));
const rules = changetype<NameTable>(memory.data(offsetof<NameTable>()));
const tags = changetype<NameTable>(memory.data(offsetof<NameTable>()));
const severities = changetype<NameTable>(memory.data(offsetof<NameTable>()));
const noted = changetype<NameTable>(memory.data(offsetof<NameTable>()));

/** The configured default; 0 if there is none, and then `usually` holds. */
let fallback: Value = 0;
let usually: string = "";

/** Whether the configuration says `"empty": "clean"`: a report without results is a clean one. */
export let emptyIsClean: bool = false;

/**
 * Reads the whole configuration. `plugin` is the plugin's name, for messages;
 * `usual` the default category as a JSON string literal; `takesEmpty` says whether
 * the plugin has the setting `empty`. Returns false if the configuration is refused.
 */
export function readCategories(config: Value, plugin: string, usual: string, takesEmpty: bool = false): bool {
  usually = usual;
  let categories: Value = 0;
  for (setting.of(config); setting.next(); ) {
    if (setting.is("categories")) categories = setting.value;
    else if (!takesEmpty || !setting.is("empty")) return failUnknown("", plugin, takesEmpty);
    else if (says(setting.value, "clean")) emptyIsClean = true;
    else return failKind("", setting.key, "clean", setting.value);
  }
  if (!categories) return true;
  if (!isObject(categories)) return failKind("/categories", 0, "an object", categories);
  for (setting.of(categories); setting.next(); ) {
    let fine: bool = true;
    if (setting.is("rules")) fine = readTable(rules, "/categories/rules");
    else if (setting.is("tags")) fine = readTable(tags, "/categories/tags");
    else if (setting.is("severities")) fine = readTable(severities, "/categories/severities");
    else if (!setting.is("default")) fine = failUnknown("/categories", plugin, false);
    else if (isCategory("/categories", setting)) fallback = setting.value;
    else fine = false;
    if (!fine) return false;
  }
  return true;
}

/** Reads the current setting, an object from names to categories. */
function readTable(table: NameTable, where: string): bool {
  const names = setting.value;
  if (!isObject(names)) return failKind(where, 0, "an object", names);
  for (name.of(names); name.next(); ) {
    if (!isCategory(where, name)) return false;
    table.add(name.key, name.value);
  }
  return true;
}

function isCategory(where: string, member: Members): bool {
  return isFilledString(member.value) || failKind(where, member.key, "a category", member.value);
}

function failUnknown(where: string, plugin: string, takesEmpty: bool): bool {
  return failConfig(
    where, setting.key, sentence(plugin).text(" has no setting ").excerpt(setting.key),
    takesEmpty ? "it takes categories and empty: clean" : "it takes categories: default, rules, tags, severities"
  );
}

function failKind(where: string, key: Value, wanted: string, found: Value): bool {
  const message = sentence(where);
  if (key) message.token(key);
  return failConfig(where, key, message.text(" must be ").text(wanted).text(", but it is ").excerpt(found), "");
}

/** The category that the configuration gives a rule; 0 if none. 0 gives 0. */
export function categoryOfRule(rule: Value): Value {
  return rule ? rules.get(rule) : 0;
}

/** The category that the configuration gives a tag; 0 if none. 0 gives 0. */
export function categoryOfTag(tag: Value): Value {
  return tag ? tags.get(tag) : 0;
}

/** The category that the configuration gives a severity; 0 if none. 0 gives 0. */
export function categoryOfSeverity(severity: Value): Value {
  return severity ? severities.get(severity) : 0;
}

/**
 * Whether a report is Switchyard's own: its rules are categories, and its messages are
 * whole. Any report can claim it, and gains no more by it than one of np-critic's format,
 * which names its categories, too.
 */
export function isOwn(tool: Value): bool {
  return says(tool, "switchyard");
}

/**
 * Writes the member `"category":…` of a finding: `mapped` or, where that is 0,
 * the default. A finding that only has the default says so: its rule, if there
 * is one and not empty, joins the answer's unmapped rules, once.
 */
export function writeCategory(finding: Writer, mapped: Value, rule: Value): void {
  finding.text('"category":');
  if (mapped) {
    finding.value(mapped);
    return;
  }
  finding.valueOr(fallback, usually);
  if (isBlank(rule) || noted.get(rule)) return;
  // The guest may have put the rule together where it puts the next one, too.
  const kept = keep(rule);
  noted.add(kept, kept);
  noteUnmapped(kept).valueOr(fallback, usually).text("}");
}
