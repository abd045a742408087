/**
 * Base ids: the names by which a log calls the directories that its relative
 * references start from.
 *
 * A base may start from another. What findings need is the path from the last
 * of such a chain, the root: that is where the project is, wherever that was
 * on the machine where the tool ran. So the absolute URI of a root is left out.
 */

import { Members, Value, find } from "../../sdk/assemblyscript/cursor";
import { alloc } from "../../sdk/assemblyscript/memory";
import { NameTable } from "../../sdk/assemblyscript/names";
import { fail, sentence } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { optionalObject, optionalString } from "./shape";
import { isRelative, writePath } from "./uri";

/** How many bases may start from one another. More, or a loop, is refused. */
const LIMIT: i32 = 32;

@unmanaged
class Base {
  location: Value;
  /** The path from the root, as it stands in a JSON string, and its length; -1 as long as nobody has asked. */
  prefix: usize;
  length: i32;
}

const member = changetype<Members>(memory.data(offsetof<Members>()));
const bases = changetype<NameTable>(memory.data(offsetof<NameTable>()));
const chain = memory.data(<i32>LIMIT << 2);
const draft = changetype<Writer>(memory.data(offsetof<Writer>()));

/** Takes the bases of a run in place of the last run's. */
export function readBases(value: Value): void {
  bases.reset(0);
  const all = optionalObject(value, "originalUriBaseIds");
  if (!all) return;
  for (member.of(all); member.next(); ) {
    const base = changetype<Base>(alloc(offsetof<Base>()));
    base.location = member.value;
    base.length = -1;
    bases.add(member.key, changetype<usize>(base));
  }
}

/**
 * Appends the path from the root to the base called `id` to a JSON string. A
 * base that the log doesn't describe is a root itself.
 */
export function writeBase(out: Writer, id: Value): void {
  const base = baseOf(id);
  if (!base) return;
  if (base.length < 0) resolve(base);
  out.bytes(base.prefix, base.length);
}

function baseOf(id: Value): Base | null {
  return changetype<Base | null>(bases.get(id));
}

function resolve(base: Base): void {
  base.length = 0;
  let depth = 0;
  for (let next: Base | null = base; next; ) {
    const location = optionalObject(next.location, "a URI base");
    const uri = optionalString(find(location, "uri"), "uri");
    if (uri && !isRelative(uri)) break;
    if (depth == LIMIT) {
      fail("sarif-invalid-uri", "", sentence("too many URI bases, or a loop"), "", location);
      return;
    }
    store<u32>(chain + (<usize>depth << 2), uri);
    depth++;
    const id = optionalString(find(location, "uriBaseId"), "uriBaseId");
    next = id ? baseOf(id) : null;
  }
  draft.truncate(0);
  while (depth) {
    depth--;
    const uri = load<u32>(chain + (<usize>depth << 2));
    if (!uri) continue;
    const before = draft.length;
    writePath(draft, uri);
    if (draft.length > before && load<u8>(draft.start + draft.length - 1) != 0x2f) draft.text("/");
  }
  base.length = draft.length;
  base.prefix = alloc(base.length);
  memory.copy(base.prefix, draft.start, base.length);
}
