/**
 * The exports that are the same in every guest, and the packed result.
 *
 * A guest's entry file re-exports the first two and adds its own
 * `sy_describe` and `sy_normalize`:
 *
 *     export { sy_alloc, switchyard_abi_v1 } from ".../abi";
 */

import { alloc } from "./memory";
import { Writer } from "./writer";

/** Says which version of the interface this module speaks. Never called. */
export function switchyard_abi_v1(): void {}

/** Memory for the host to put a report or a configuration into. */
export function sy_alloc(size: usize): usize {
  return alloc(size);
}

/** Where an answer is, as the host takes it: address above, length below. */
export function packed(answer: Writer): u64 {
  return <u64>answer.start << 32 | <u64>answer.length;
}

/**
 * Stands in for AssemblyScript's `abort`, which would be an import, and a
 * guest has none. Nothing calls it unless a guest uses features that can fail.
 */
export function trap(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}
