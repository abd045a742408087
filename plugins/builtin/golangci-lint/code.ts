/**
 * The code that the text of some linters begins with: `SA4006: this value …`.
 */

import { Value, readText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { Writer } from "../../sdk/assemblyscript/writer";

/** What golangci-lint puts behind the code of an issue that explains the one before: `(related information)`. */
const RELATED: u64 = 0x646574616c657228; // "(related"

const code = changetype<Writer>(memory.data(offsetof<Writer>()));

/** The code as a string, until the next call; 0 if the text begins with none. */
export function codeOf(text: Value): Value {
  let at = text + 1;
  let end = codeEnd(at);
  if (load<u8>(end) == 0x5c) {
    // An escape, where a code may go on.
    readText(text);
    at = textAt;
    end = codeEnd(at);
    if (end >= at + textLength) return 0;
  }
  if (load<u8>(end - 1) > 0x39 || load<u8>(at) < 0x41 || end == at) return 0;
  if (load<u8>(end) != 0x3a && load<u64>(end) != RELATED) return 0;
  code.truncate(0);
  return code.text('"').bytes(at, end - at).text('"').start;
}

/** The first byte that is not part of a run of capital letters and then digits. */
function codeEnd(at: usize): usize {
  while (<u32>load<u8>(at) - 0x41 < 26) at++;
  while (<u32>load<u8>(at) - 0x30 < 10) at++;
  return at;
}
