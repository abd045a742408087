/**
 * How grave a result is: SARIF's levels, in our words.
 */

import { Value, isAbsent, says } from "../../sdk/assemblyscript/cursor";
import { categoryOfSeverity } from "../../sdk/assemblyscript/mapping";
import { refuse } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";

export enum Level { UNSAID, ERROR, WARNING, NOTE, NONE }

const word = changetype<Writer>(memory.data(offsetof<Writer>()));

/** The category that the configuration gives each level; a word a level. */
const categories = memory.data(20);

/** A level as the log writes it; UNSAID where it is missing or null. Other levels fail. */
export function levelOf(value: Value): Level {
  if (isAbsent(value)) return Level.UNSAID;
  for (let level = Level.ERROR; level <= Level.NONE; level++) {
    if (says(value, wordOf(level))) return level;
  }
  refuse("sarif-invalid-level", "", "the level", "error, warning, note or none", value);
  return Level.UNSAID;
}

function wordOf(level: Level): string {
  switch (level) {
    case Level.ERROR: return "error";
    case Level.WARNING: return "warning";
    case Level.NOTE: return "note";
    default: return "none";
  }
}

/** The severity as findings write it, in quotes. */
export function severityOf(level: Level): string {
  return level == Level.ERROR ? '"fail"' : level == Level.WARNING ? '"risk"' : '"nit"';
}

/** Looks up the levels in the configuration, once for all results. */
export function readSeverities(): void {
  for (let level = Level.ERROR; level <= Level.NONE; level++) {
    word.truncate(0);
    const value = word.text('"').text(wordOf(level)).text('"').start;
    store<u32>(categories + (<usize>level << 2), categoryOfSeverity(value));
  }
}

/** The category that the configuration gives a level; 0 if none. */
export function categoryOfLevel(level: Level): Value {
  return load<u32>(categories + (<usize>level << 2));
}
