/**
 * A finding's file.
 */

import { Value, endOf } from "./cursor";
import { Writer } from "./writer";

/**
 * Writes the member `"file":…`: the path as it stands, but for a leading `./`,
 * so that tools that write it and tools that don't name the same file; null
 * where the path is 0.
 */
export function writeFile(finding: Writer, path: Value): void {
  finding.text(',"file":');
  if (!path) {
    finding.text("null");
    return;
  }
  const start = path + 1 + leading(path + 1);
  const end = endOf(path);
  if (start + 1 < end) finding.text('"').bytes(start, end - start);
  else finding.value(path); // nothing else is left
}

/** The length of a `./` at the beginning of a string, whose slash may be escaped. */
function leading(inside: usize): usize {
  if (load<u16>(inside) == 0x2f2e) return 2;
  return load<u16>(inside) == 0x5c2e && load<u8>(inside, 2) == 0x2f ? 3 : 0;
}
