/**
 * How grave a result is: SARIF's levels, in our words.
 */

import { Value, isAbsent, says } from "../../sdk/assemblyscript/cursor";
import { refuse } from "../../sdk/assemblyscript/result";

export enum Severity { UNSAID, FAIL, RISK, NIT }

/** The severity of a level; UNSAID where it is missing or null. Other levels fail. */
export function severityOf(level: Value): Severity {
  if (isAbsent(level)) return Severity.UNSAID;
  if (says(level, "error")) return Severity.FAIL;
  if (says(level, "warning")) return Severity.RISK;
  if (says(level, "note") || says(level, "none")) return Severity.NIT;
  refuse("sarif-invalid-level", "", "the level", "error, warning, note or none", level);
  return Severity.UNSAID;
}

/** The severity as findings write it, in quotes. */
export function quoted(severity: Severity): string {
  return severity == Severity.FAIL ? '"fail"' : severity == Severity.NIT ? '"nit"' : '"risk"';
}
