/**
 * What a report says became of the findings of the previous review. Few formats
 * say anything, so the guests of the others are built without this.
 */

import { Value } from "./cursor";
import { failed, path } from "./result";
import { Writer } from "./writer";

const statements = changetype<Writer>(memory.data(offsetof<Writer>()));

/**
 * Says what became of a finding, for the item at `path`: its fingerprint, each
 * only once, and a status. The host refuses other values.
 */
export function putPrevious(id: Value, status: Value): void {
  statements.text(statements.length ? "," : ',"previous":[');
  statements.text('{"id":').value(id).text(',"status":').value(status).text(',"ref":"').writer(path).text('"}');
}

/** Adds what was said to a whole answer, and returns it. */
export function withPrevious(answer: Writer): Writer {
  if (failed() || !statements.length) return answer;
  answer.truncate(answer.length - 1); // The closing brace.
  return answer.writer(statements).text("]}");
}
