/**
 * What `json2` says was counted. Whoever contradicts himself is no witness, and
 * neither is one who looked at nothing.
 */

import { Members, Value, find, isObject, wholeNumber } from "../../sdk/assemblyscript/cursor";
import { fail, failed, refuse, sentence } from "../../sdk/assemblyscript/result";
import { Type, typeNamed } from "./type";

/**
 * Pylint counts its command line as a module, and its configuration as another,
 * whatever it was given to lint; a configuration file is one more.
 */
const NO_MODULES = 2;

/** How many messages there are of each type. */
const counted = memory.data(4 * Type.UNKNOWN);
let findings = 0;

const member = changetype<Members>(memory.data(offsetof<Members>()));

/** Counts a message. */
export function count(type: Type, isFinding: bool): void {
  const at = counted + (<usize>type << 2);
  store<i32>(at, load<i32>(at) + 1);
  if (isFinding) findings++;
}

/** Compares the statistics with what was counted. */
export function checkStatistics(statistics: Value): void {
  const counts = find(statistics, "messageTypeCount");
  if (!isObject(counts)) {
    refuse("pylint-invalid", "", "statistics.messageTypeCount", "an object", counts);
    return;
  }
  let types = 0;
  for (member.of(counts); member.next(); ) {
    const type = typeNamed(member);
    if (type == Type.UNKNOWN) {
      fail(
        "pylint-invalid", "/statistics/messageTypeCount",
        sentence("Pylint has no messages of the type ").excerpt(member.key), "", member.value
      );
      return;
    }
    checkCount(type);
    if (failed()) return;
    types++;
  }
  if (types < Type.UNKNOWN) {
    refuse("pylint-invalid", "/statistics/messageTypeCount", "messageTypeCount", "a count of each of the six types", counts);
    return;
  }
  const modules = find(statistics, "modulesLinted");
  const number = wholeNumber(modules);
  if (number < 0) {
    refuse("pylint-invalid", "", "statistics.modulesLinted", "a whole number", modules);
  } else if (!number || !findings && number <= NO_MODULES) {
    fail(
      "pylint-nothing-linted", "/statistics/modulesLinted",
      sentence("Pylint has not linted a single module: modulesLinted is ").number(number)
        .text(", and its command line and its configuration count as two"),
      "check what Pylint is told to lint and to ignore", modules
    );
  }
}

function checkCount(type: Type): void {
  const number = wholeNumber(member.value);
  const seen = load<i32>(counted + (<usize>type << 2));
  if (number < 0) {
    refuse("pylint-invalid", "/statistics/messageTypeCount", "a count of messages", "a whole number", member.value);
  } else if (number != seen) {
    fail(
      "pylint-count-contradiction", "/statistics/messageTypeCount",
      sentence("the statistics count ").number(number).text(" messages of the type ").inside(member.key)
        .text(", but the report holds ").number(seen),
      "", member.value
    );
  }
}
