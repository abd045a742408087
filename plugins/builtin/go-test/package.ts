/**
 * Packages and their tests, as far as the events have told.
 */

import { Value, readText, sameText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { allocSmall } from "../../sdk/assemblyscript/memory";
import { NameTable } from "../../sdk/assemblyscript/names";
import { Output } from "./output";

/** How many packages there are. */
export let packages = 0;
/** How many tests there are. */
export let tests = 0;

/** A test, an example, a benchmark or a part of one. */
@unmanaged
export class Test {
  name: Value;
  /** The test of the same package that came before. */
  before: Test | null;
  output: Output;
  hasEnded: bool;
  hasFailedPart: bool;

  /** Begins anew: `-count` and `-cpu` run a test several times. */
  run(): void {
    if (!this.hasEnded) return;
    this.hasEnded = false;
    this.hasFailedPart = false;
    this.output.clear();
  }
}

@unmanaged
export class Package {
  name: Value;
  /** The package that came before. */
  before: Package | null;
  /** What it printed outside of tests. */
  output: Output;
  /** Its last line, where that is the verdict: `FAIL`, and why. */
  verdict: Value;
  isOpen: bool;
  failedTests: i32;
  lastTest: Test | null;
  private known: NameTable;
  private recent: Test | null;

  /** An event came: if the package had ended, it is run once more. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.output.clear();
    this.verdict = 0;
    this.failedTests = 0;
    this.lastTest = null;
    this.recent = null;
    this.known = changetype<NameTable>(allocSmall(offsetof<NameTable>()));
  }

  /** The test of that name. */
  test(name: Value): Test {
    const recent = this.recent;
    if (recent && sameText(recent.name, name)) return recent;
    let test = changetype<Test>(this.known.get(name));
    if (!test) {
      test = changetype<Test>(allocSmall(offsetof<Test>()));
      test.name = name;
      test.output = changetype<Output>(allocSmall(offsetof<Output>()));
      test.before = this.lastTest;
      this.lastTest = test;
      this.known.add(name, changetype<usize>(test));
      tests++;
    }
    this.recent = test;
    return test;
  }

  /**
   * Tells the test that a failed one is a part of. Names of tests may hold
   * slashes of their own, so it is the nearest that is known.
   */
  failPart(test: Test): void {
    readText(test.name);
    const start = textAt;
    let slash = start + textLength;
    while (--slash > start) {
      if (load<u8>(slash) != 0x2f) continue;
      const found = changetype<Test>(this.known.getText(start, <i32>(slash - start)));
      if (!found) continue;
      found.hasFailedPart = true;
      return;
    }
  }

  /** The youngest test that has not ended; null if all have. */
  unfinished(): Test | null {
    let test = this.lastTest;
    while (test && test.hasEnded) test = test.before;
    return test;
  }
}

const known = changetype<NameTable>(memory.data(offsetof<NameTable>()));
let last: Package | null = null;
let recent: Package | null = null;

/** The package of that name, open. */
export function packageOf(name: Value): Package {
  let it = recent;
  if (!it || !sameText(it.name, name)) {
    it = changetype<Package>(known.get(name));
    if (!it) {
      it = changetype<Package>(allocSmall(offsetof<Package>()));
      it.name = name;
      it.output = changetype<Output>(allocSmall(offsetof<Output>()));
      it.before = last;
      last = it;
      known.add(name, changetype<usize>(it));
      packages++;
    }
    recent = it;
  }
  it.open();
  return it;
}

/** The name of the first package that has not ended; 0 if all have. */
export function openPackage(): Value {
  let name: Value = 0;
  let it = last;
  while (it) {
    if (it.isOpen) name = it.name;
    it = it.before;
  }
  return name;
}
