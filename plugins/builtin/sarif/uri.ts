/**
 * The path that a URI reference spells.
 *
 * Most are plain relative paths and are copied as they stand. Others are
 * decoded: `src/a%20b.go` is the file `src/a b.go`, and `file:///src/a.go` is
 * `/src/a.go`. Bytes that no file name should have never come out of that.
 * Backslashes, `..` and URIs of other schemes are left alone.
 */

import { Value, readText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { alloc } from "../../sdk/assemblyscript/memory";
import { QUOTE } from "../../sdk/assemblyscript/scan";
import { refuse } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";

/** Room for a decoded path; the next one reuses it. */
let scratch: usize = 0;
let room: usize = 0;

/** Whether a URI reference is relative to a base, rather than a path from some root or a URI of its own. */
export function isRelative(uri: Value): bool {
  const raw = uri + 1;
  if (load<u8>(raw) == 0x2f) return false;
  if (load<u8>(raw + plainLength(raw)) == QUOTE) return true;
  readText(uri);
  return load<u8>(textAt) != 0x5c && !colonAfterScheme(textAt, textAt + textLength);
}

/** Appends the path to a JSON string, or fails. */
export function writePath(out: Writer, uri: Value): void {
  const raw = uri + 1;
  const length = plainLength(raw);
  if (load<u8>(raw + length) == QUOTE) {
    const from = withoutDot(raw, raw + length);
    out.bytes(from, raw + length - from);
    return;
  }
  readText(uri);
  const end = textAt + textLength;
  let from = textAt;
  const colon = colonAfterScheme(from, end);
  if (colon - from == 4 && isWord(from, 0x656c6966)) { // file
    from = localPath(colon + 1, end);
  } else if (colon > from + 1) {
    out.inside(uri);
    return;
  }
  const decoded = from ? decode(withoutDot(from, end), end) : -1;
  if (decoded >= 0 && isClean(scratch, scratch + decoded)) out.plain(scratch, decoded);
  else refuse("sarif-invalid-uri", "", "a URI", "a path in UTF-8 without control characters, its escapes whole", uri);
}

/** How many bytes there are before the first that ends the string or needs a closer look: `%`, `:`, `\` or no ASCII. */
function plainLength(at: usize): usize {
  const from = at;
  while (true) {
    const chunk = v128.load(at);
    const hits = i8x16.bitmask(v128.or(
      v128.or(
        v128.or(i8x16.eq(chunk, i8x16.splat(QUOTE)), i8x16.eq(chunk, i8x16.splat(0x25))),
        v128.or(i8x16.eq(chunk, i8x16.splat(0x3a)), i8x16.eq(chunk, i8x16.splat(0x5c)))
      ),
      v128.or(i8x16.lt_s(chunk, i8x16.splat(0x20)), i8x16.eq(chunk, i8x16.splat(0x7f)))
    ));
    if (hits) return at + ctz(hits) - from;
    at += 16;
  }
}

/** The path behind a leading `./`. */
function withoutDot(at: usize, end: usize): usize {
  if (load<u16>(at) == 0x2f2e) {
    do at += 2;
    while (at < end && load<u16>(at) == 0x2f2e);
  }
  return min(at, end);
}

/** The colon behind a scheme or a drive's letter; 0 if there is neither. */
function colonAfterScheme(at: usize, end: usize): usize {
  if (at == end || !isLetter(load<u8>(at))) return 0;
  for (at++; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == 0x3a) return at;
    if (!isLetter(byte) && byte - 0x30 > 9 && byte != 0x2b && byte != 0x2d && byte != 0x2e) return 0;
  }
  return 0;
}

// @ts-ignore: decorator
@inline
function isLetter(byte: u32): bool {
  return (byte | 0x20) - 0x61 < 26;
}

/** Whether four letters, in either case, are these. */
function isWord(at: usize, lowerCase: u32): bool {
  return (load<u32>(at) | 0x20202020) == lowerCase;
}

/**
 * Where the path of a file URI begins, of which `at` is behind the scheme; 0 if
 * it has none. Another machine's name stays, in front of two slashes.
 */
function localPath(at: usize, end: usize): usize {
  if (at == end || load<u8>(at) != 0x2f) return 0;
  if (at + 1 < end && load<u8>(at, 1) == 0x2f) {
    const host = at + 2;
    let slash = host;
    while (slash < end && load<u8>(slash) != 0x2f) slash++;
    if (slash == end) return 0;
    if (slash - host == 2 && isDrive(host)) return host; // file://C:/ is meant so
    if (slash > host && !isLocalhost(host, slash)) return at;
    at = slash;
  }
  return end - at >= 3 && isDrive(at + 1) ? at + 1 : at;
}

function isDrive(at: usize): bool {
  return isLetter(load<u8>(at)) && load<u8>(at, 1) == 0x3a;
}

function isLocalhost(at: usize, end: usize): bool {
  return end - at == 9 && isWord(at, 0x61636f6c) && isWord(at + 4, 0x736f686c) && isWord(at + 5, 0x74736f68);
}

/** Decodes a path's escapes into the scratch block. Returns its length, or -1 if an escape is broken. */
function decode(from: usize, end: usize): i32 {
  if (end - from > room) {
    room = (end - from) << 1;
    scratch = alloc(room);
  }
  let to = scratch;
  for (; from < end; from++) {
    let byte = load<u8>(from);
    if (byte == 0x25) {
      if (end - from < 3) return -1;
      const high = hexDigit(load<u8>(from, 1));
      const low = hexDigit(load<u8>(from, 2));
      if ((high | low) < 0) return -1;
      byte = <u8>(high << 4 | low);
      from += 2;
    }
    store<u8>(to++, byte);
  }
  return <i32>(to - scratch);
}

function hexDigit(byte: u32): i32 {
  if (byte - 0x30 < 10) return byte - 0x30;
  const letter = (byte | 0x20) - 0x61;
  return letter < 6 ? letter + 10 : -1;
}

/** Whether the text is UTF-8 without control characters. */
function isClean(at: usize, end: usize): bool {
  while (at < end) {
    const byte = <u32>load<u8>(at++);
    if (byte < 0x80) {
      if (byte < 0x20 || byte == 0x7f) return false;
      continue;
    }
    const more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    if (byte < 0xc2 || byte > 0xf4 || at + more > end) return false;
    let point = byte & (0x3f >> more);
    for (const last = at + more; at < last; at++) {
      const next = <u32>load<u8>(at);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 63);
    }
    // C1 controls; three or four bytes for what takes less; surrogates; beyond Unicode
    if (point < 0xa0 || more == 2 && (point < 0x800 || point >> 11 == 0x1b)) return false;
    if (more == 3 && (point < 0x10000 || point > 0x10ffff)) return false;
  }
  return true;
}
