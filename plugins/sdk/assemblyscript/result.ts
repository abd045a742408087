/**
 * What a normalizer answers: findings and skipped entries, or one error.
 *
 * A guest walks over the report and keeps {@link path} at the item it looks
 * at; everything that is written here takes its `ref` from there. The first
 * {@link fail} decides: it turns the answer into an error, whatever is written
 * before or after it.
 */

import { Value, endOf, kindOf } from "./cursor";
import { EXCERPT, Writer } from "./writer";

/** How an answer begins: with whichever list is longer. */
const FINDINGS = '{"findings":[';
const SKIPPED = '{"skipped":[';

const findings = changetype<Writer>(memory.data(offsetof<Writer>()));
const skipped = changetype<Writer>(memory.data(offsetof<Writer>()));
const unmapped = changetype<Writer>(memory.data(offsetof<Writer>()));
const error = changetype<Writer>(memory.data(offsetof<Writer>()));
const draft = changetype<Writer>(memory.data(offsetof<Writer>()));

/**
 * The JSON Pointer of the current item. Enter and leave:
 *
 *     const outside = path.length;
 *     path.text("/findings/").number(i);
 *     ...
 *     path.truncate(outside);
 */
export const path = changetype<Writer>(memory.data(offsetof<Writer>()));

let accuser: Value = 0;
let position: i32 = -1;

/** Names the critic and the item that an error's details mention; 0 and -1 for neither. */
export function about(critic: Value, index: i32): void {
  accuser = critic;
  position = index;
}

/** Begins a finding: its members are the caller's to write. */
export function beginFinding(): Writer {
  findings.text(findings.length ? "," : FINDINGS);
  return findings.text("{");
}

/** Ends a finding with its `ref`. */
export function endFinding(): void {
  findings.text(',"ref":"').writer(path).text('"}');
}

/** Whether the answer has a finding. */
export function hasFindings(): bool {
  return findings.length > 0;
}

/** Begins a skipped entry; its reason is the caller's to write. */
export function beginSkipped(): Writer {
  skipped.text(skipped.length ? "," : SKIPPED);
  return skipped.text('{"ref":"').writer(path).text('","reason":"');
}

/** Ends a skipped entry. */
export function endSkipped(): void {
  skipped.text('"}');
}

/**
 * Notes a rule that the configuration maps to nothing; the category that its
 * findings have, and the closing bracket, are the caller's to write. It is for
 * mapping.ts, which knows what was noted before.
 */
export function noteUnmapped(rule: Value): Writer {
  if (unmapped.length) unmapped.text(",");
  return unmapped.text('{"rule":').value(rule).text(',"category":');
}

/**
 * Begins an error's message: one lower-case sentence without a full stop.
 * There is one draft; the next call begins anew.
 */
export function sentence(text: string): Writer {
  draft.truncate(0);
  return draft.text(text);
}

/** Whether the answer is an error. Loops ask once an item and then stop. */
export function failed(): bool {
  return error.length > 0;
}

/**
 * Turns the answer into an error. `where` is appended to the path, `found` is
 * the value that is wrong, 0 if it is missing. Returns false, for callers that
 * say whether all is well.
 */
export function fail(code: string, where: string, message: Writer, hint: string, found: Value): bool {
  if (failed()) return false;
  begin(code, message, hint);
  error
    .text('","ref":"').writer(path).text(where)
    .text('","details":{"got":"').text(kindOf(found)).text('"');
  if (accuser) error.text(',"critic":').value(accuser);
  if (position >= 0) error.text(',"index":').number(position);
  if (found && endOf(found) - found <= EXCERPT) error.text(',"value":').value(found);
  error.text("}}}");
  return false;
}

/** Fails in the commonest way: `what` must be `wanted`, but it is `found`. */
export function refuse(code: string, where: string, what: string, wanted: string, found: Value): bool {
  return fail(code, where, sentence(what).text(" must be ").text(wanted).text(", but it is ").excerpt(found), "", found);
}

/**
 * Turns the answer into an error about the plugin's configuration. The key, if
 * there is one, follows `where` in the JSON Pointer that the error's details
 * give; there is no `ref`, which points into reports only.
 */
export function failConfig(where: string, key: Value, message: Writer, hint: string): bool {
  if (failed()) return false;
  begin("plugin-config-invalid", message, hint);
  error.text('","details":{"config":"').text(where);
  if (key) error.token(key);
  error.text('"}}}');
  return false;
}

/** Writes what all errors have, up to the last string's closing quote. */
function begin(code: string, message: Writer, hint: string): void {
  error.text('{"error":{"code":"').text(code).text('","message":"').writer(message);
  if (hint.length) error.text('","hint":"').text(hint);
}

/**
 * Completes the answer and returns it: the error if there is one, else the
 * findings, the skipped entries, what the report says of itself (its critic,
 * and its task and round if given), and the unmapped rules if there are any.
 * `named` is the critic that the report names; where it is 0, because it names
 * none or several, `critic` stands in. An answer may be megabytes, and moving it
 * costs time: the longer list stays where it is, and the other goes behind it.
 */
export function answer(critic: string, named: Value, task: Value, round: Value): Writer {
  if (failed()) return error;
  if (!findings.length) findings.text(FINDINGS);
  if (!skipped.length) skipped.text(SKIPPED);
  let all = findings;
  let rest = skipped;
  if (skipped.length > findings.length) {
    all = skipped;
    rest = findings;
  }
  all.text("],").bytes(rest.start + 1, rest.length - 1).text('],"critic":');
  if (named) all.value(named);
  else all.text('"').text(critic).text('"');
  if (task) all.text(',"task_id":').value(task);
  if (round) all.text(',"round":').value(round);
  if (unmapped.length) all.text(',"unmapped":[').writer(unmapped).text("]");
  return all.text("}");
}
