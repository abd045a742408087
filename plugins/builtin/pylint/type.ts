/**
 * Pylint's types of messages, which are its severities.
 */

import { Members, Value, says } from "../../sdk/assemblyscript/cursor";
import { refuse } from "../../sdk/assemblyscript/result";

export enum Type { FATAL, ERROR, WARNING, REFACTOR, CONVENTION, INFO, UNKNOWN }

/** The type that a message has; any that Pylint doesn't know fails. */
export function typeOf(value: Value): Type {
  if (says(value, "convention")) return Type.CONVENTION;
  if (says(value, "warning")) return Type.WARNING;
  if (says(value, "refactor")) return Type.REFACTOR;
  if (says(value, "error")) return Type.ERROR;
  if (says(value, "fatal")) return Type.FATAL;
  if (says(value, "info")) return Type.INFO;
  refuse(
    "pylint-invalid-type", value ? "/type" : "",
    "the type", "fatal, error, warning, refactor, convention or info", value
  );
  return Type.UNKNOWN;
}

/** The type that a member is named after. */
export function typeNamed(member: Members): Type {
  if (member.is("fatal")) return Type.FATAL;
  if (member.is("error")) return Type.ERROR;
  if (member.is("warning")) return Type.WARNING;
  if (member.is("refactor")) return Type.REFACTOR;
  if (member.is("convention")) return Type.CONVENTION;
  return member.is("info") ? Type.INFO : Type.UNKNOWN;
}

/** The severity of a type, as findings write it, in quotes. */
export function severityOf(type: Type): string {
  return type <= Type.ERROR ? '"fail"' : type == Type.WARNING ? '"risk"' : '"nit"';
}
