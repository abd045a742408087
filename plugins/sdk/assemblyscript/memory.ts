/**
 * The heap of a guest that lives for one report.
 *
 * The host starts a fresh instance for every report and drops it with its
 * answer, so nothing is ever freed: a block is the old top of the heap, and
 * the runtime of AssemblyScript (headers, reference counts, a collector) has
 * no work to do. Guests keep their few structures in static memory, see
 * {@link Members}, and never call `new`.
 */

/**
 * Bytes behind every block that may be read, and by a {@link Writer} written,
 * but mean nothing. They let the scanners load whole vectors without asking
 * whether the text ends inside. Behind the report they are zero, which no
 * JSON token contains.
 */
const SLACK: u64 = 64;

/**
 * The first free byte, a multiple of 16; 0 before the first block. It isn't
 * initialised to the end of the static data because that would give every
 * guest a start function, which is one more thing for a host to run and trust.
 */
let top: usize = 0;

/** Moves the top of the heap behind `size` bytes at `block`, or traps. */
function claim(block: usize, size: usize): void {
  const end: u64 = (<u64>block + <u64>size + SLACK + 15) & ~15;
  const room: u64 = <u64>memory.size() << 16;
  if (end > room && memory.grow(<i32>((end - room + 0xffff) >> 16)) < 0) unreachable();
  // A heap that ends exactly at 4 GiB would wrap to 0.
  if (end > <u64>u32.MAX_VALUE) unreachable();
  top = <usize>end;
}

/** A new block of `size` bytes, all zero, on a 16 byte boundary. */
export function alloc(size: usize): usize {
  const block = top ? top : (__heap_base + 15) & ~15;
  claim(block, size);
  return block;
}

/**
 * Makes a block larger and returns where it is now. The youngest block grows
 * in place; an older one is copied, and its room is lost.
 */
export function regrow(block: usize, oldSize: usize, newSize: usize): usize {
  if (((<u64>block + <u64>oldSize + SLACK + 15) & ~15) == <u64>top) {
    claim(block, newSize);
    return block;
  }
  const moved = alloc(newSize);
  memory.copy(moved, block, oldSize);
  return moved;
}

/** How much one block for {@link allocSmall} holds. */
const CHUNK: usize = 1 << 16;
let free: usize = 0;
let freeEnd: usize = 0;

/**
 * Memory for one of many small things, all zero, on an 8 byte boundary: they
 * share a block, and the slack behind it, where each of their own would have more
 * slack than content.
 */
export function allocSmall(size: usize): usize {
  if (size > CHUNK >> 2) return alloc(size);
  size = (size + 7) & ~7;
  if (freeEnd - free < size) {
    free = alloc(CHUNK);
    freeEnd = free + CHUNK;
  }
  const block = free;
  free += size;
  return block;
}
