/**
 * An error's source, the rule that it breaks: mostly the rule's name behind
 * those of what it belongs to, as in `ShellCheck.SC2086` or
 * `com.puppycrawl.tools.checkstyle.checks.indentation.IndentationCheck`.
 */

import { Value, endOf } from "../../sdk/assemblyscript/cursor";
import { Writer } from "../../sdk/assemblyscript/writer";

const lastPart = changetype<Writer>(memory.data(offsetof<Writer>()));
const before = changetype<Writer>(memory.data(offsetof<Writer>()));

/** What stands behind the source's last dot, or all of it; 0 if there is no source. */
export let name: Value = 0;
/** What stands before that dot; 0 if there is none. */
export let group: Value = 0;

/** Reads a source into {@link name} and {@link group}, which stay until the next call. */
export function readSource(source: Value): void {
  name = source;
  group = 0;
  if (!source) return;
  const start = source + 1;
  const end = endOf(source) - 1;
  let dot = end - 1; // a dot at the very end parts nothing
  while (--dot > start && load<u8>(dot) != 0x2e) {}
  if (dot <= start) return;
  lastPart.truncate(0);
  before.truncate(0);
  name = lastPart.text('"').bytes(dot + 1, end - dot - 1).text('"').start;
  group = before.text('"').bytes(start, dot - start).text('"').start;
}
