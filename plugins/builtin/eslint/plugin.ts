/**
 * The plugin part of a rule's id: `import` of `import/no-cycle`,
 * `@typescript-eslint` of `@typescript-eslint/no-shadow`.
 */

import { Value, readText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { Writer } from "../../sdk/assemblyscript/writer";

const plugin = changetype<Writer>(memory.data(offsetof<Writer>()));

/** The plugin as a string, until the next call; 0 for a rule of ESLint itself. */
export function pluginOf(rule: Value): Value {
  readText(rule);
  const from = textAt;
  const length = slashIn(from, textLength);
  if (length < 0) return 0;
  plugin.truncate(0);
  plugin.text('"');
  if (from == rule + 1) plugin.bytes(from, length);
  else plugin.plain(from, length); // what was decoded may need its escapes back
  return plugin.text('"').start;
}

/** Where the plugin's name ends, or -1: at the first slash, in a scoped name at the last. */
function slashIn(at: usize, length: i32): i32 {
  const isScoped = load<u8>(at) == 0x40;
  let slash = -1;
  for (let i = 0; i < length; i += 16) {
    let hits = i8x16.bitmask(i8x16.eq(v128.load(at + i), i8x16.splat(0x2f)));
    if (length - i < 16) hits &= (1 << (length - i)) - 1;
    if (!hits) continue;
    if (!isScoped) return i + ctz(hits);
    slash = i + 31 - clz(hits);
  }
  return slash;
}
