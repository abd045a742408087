/**
 * What was printed: by a test, a package or a build.
 *
 * Nobody knows yet whether it will be needed, so only the places of the first
 * lines are kept, as many as a finding shows.
 */

import { Value, endOf, keep } from "../../sdk/assemblyscript/cursor";
import { allocSmall } from "../../sdk/assemblyscript/memory";
import { Writer } from "../../sdk/assemblyscript/writer";
import { Lines, begins, writeClipped } from "../../sdk/assemblyscript/text";

/** How many bytes of output a finding shows. */
const LIMIT: usize = 400;

/** What the first line says: the more telling, the greater. */
export enum Telling { NOTHING, TEXT, PLACE, PANIC }

/** One piece of output, and the next. */
@unmanaged
class Piece {
  text: Value;
  next: Piece | null;
}

@unmanaged
export class Output {
  /** What the first piece that was kept says. */
  telling: Telling;
  private first: Piece | null;
  private last: Piece | null;
  private size: usize;

  /** Adds a piece, unless there is enough. One that says more than all before it takes their place. */
  add(text: Value): void {
    const telling = tellingOf(text);
    if (telling == Telling.NOTHING) return;
    if (telling > this.telling) {
      this.telling = telling;
      this.first = null;
      this.size = 0;
    }
    if (this.size >= LIMIT) return;
    if (this.telling == Telling.PANIC && begins(text + 1, endOf(text), "goroutine ")) {
      this.size = LIMIT; // stacks come last
      return;
    }
    const piece = changetype<Piece>(allocSmall(offsetof<Piece>()));
    piece.text = clipped(text);
    if (this.first) this.last!.next = piece;
    else this.first = piece;
    this.last = piece;
    this.size += endOf(text) - text - 2;
  }

  /** Forgets everything. */
  clear(): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Output>());
  }

  /** Writes the lines inside a string, without the white space around them. Returns whether there were any. */
  write(out: Writer): bool {
    let room = LIMIT;
    let any = false;
    let piece = this.first;
    while (piece && room) {
      for (line.of(piece.text); room && line.next(); ) {
        if (any) out.text("\\n");
        writeClipped(out, line.at, line.stop, room);
        room -= min(room, line.stop - line.at);
        any = true;
      }
      piece = piece.next;
    }
    return any;
  }

  /** Finds the first `file:line:`, at the start of a line. */
  locate(): void {
    clearPlace();
    let piece = this.first;
    while (piece) {
      for (line.of(piece.text); line.next(); ) {
        if (readPlace(line.at, line.stop)) return;
      }
      piece = piece.next;
    }
  }
}

const line = changetype<Lines>(memory.data(offsetof<Lines>()));
const beginning = changetype<Writer>(memory.data(offsetof<Writer>()));

/** Where {@link Output.locate} found a place: the file's name, 0 if it found none. */
export let fileAt: usize = 0;
export let fileStop: usize = 0;
export let lineNumber: u32 = 0;

function clearPlace(): void {
  fileAt = 0;
  lineNumber = 0;
}

/**
 * A text or, of one that is far longer than what is shown, the beginning: a build's
 * output is looked at again for every package that needs it.
 */
function clipped(text: Value): Value {
  const end = endOf(text);
  if (end - text <= LIMIT << 2) return text;
  beginning.truncate(0);
  beginning.text('"');
  writeClipped(beginning, text + 1, end - 1, LIMIT << 1);
  return keep(beginning.text('"').start);
}

/** What a piece of output says. */
function tellingOf(text: Value): Telling {
  const at = text + 1;
  const stop = endOf(text) - 1;
  switch (load<u8>(at)) {
    case 0x3d: return begins(at, stop, "=== ") ? Telling.NOTHING : Telling.TEXT;
    case 0x2d: return begins(at, stop, "--- ") ? Telling.NOTHING : Telling.TEXT;
    case 0x70: return begins(at, stop, "panic: ") ? Telling.PANIC : Telling.TEXT;
    case 0x66: return begins(at, stop, "fatal error: ") ? Telling.PANIC : Telling.TEXT;
    // The package testing indents what tests log, and what subtests do more.
    case 0x20: {
      let start = at;
      while (load<u8>(start) == 0x20) start++;
      if (begins(start, stop, "--- ")) return Telling.NOTHING;
      return readPlace(start, stop) ? Telling.PLACE : Telling.TEXT;
    }
    default: return Telling.TEXT;
  }
}

/** Reads `file:line:` at the beginning of a line, if it is there. */
function readPlace(at: usize, stop: usize): bool {
  clearPlace();
  let colon = at;
  while (colon < stop && load<u8>(colon) != 0x3a && load<u8>(colon) != 0x20) colon++;
  // Windows' drives end in a colon, too.
  if (colon == at + 1 && load<u8>(colon) == 0x3a && load<u8>(colon, 1) == 0x5c) {
    while (++colon < stop && load<u8>(colon) != 0x3a && load<u8>(colon) != 0x20) {}
  }
  if (load<u8>(colon) != 0x3a || !isSource(at, colon)) return false;
  let number: u64 = 0;
  let digit = colon + 1;
  for (; digit < colon + 11; digit++) {
    const value = <u32>load<u8>(digit) - 0x30;
    if (value > 9) break;
    number = number * 10 + value;
  }
  if (!number || number > <u64>i32.MAX_VALUE || load<u8>(digit) != 0x3a) return false;
  fileAt = at;
  fileStop = colon;
  lineNumber = <u32>number;
  return true;
}

/** Whether a name is one of a file that Go's tools find fault with; `localhost:80:` is no place in one. */
function isSource(at: usize, stop: usize): bool {
  return ends(at, stop, ".go") || ends(at, stop, ".mod") || ends(at, stop, ".c") || ends(at, stop, ".h") || ends(at, stop, ".s");
}

function ends(at: usize, stop: usize, suffix: string): bool {
  const length: usize = suffix.length;
  return stop - at > length && begins(stop - length, stop, suffix);
}
