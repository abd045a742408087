/**
 * Builds that packages need, and those that failed for no package.
 */

import { Value } from "../../sdk/assemblyscript/cursor";
import { allocSmall } from "../../sdk/assemblyscript/memory";
import { NameTable } from "../../sdk/assemblyscript/names";
import { beginSkipped, endSkipped, path } from "../../sdk/assemblyscript/result";
import { writeFinding } from "./finding";
import { Output } from "./output";

@unmanaged
export class Build {
  name: Value;
  /** The build that came before. */
  before: Build | null;
  output: Output;
  /** Where its `build-fail` stands, from 1; 0 if there is none. */
  failure: i32;
  /** Whether a package failed because of it. */
  isReported: bool;
}

const known = changetype<NameTable>(memory.data(offsetof<NameTable>()));
let last: Build | null = null;

/** The build of that import path. */
export function buildOf(name: Value): Build {
  let build = changetype<Build>(known.get(name));
  if (build) return build;
  build = changetype<Build>(allocSmall(offsetof<Build>()));
  build.name = name;
  build.output = changetype<Output>(allocSmall(offsetof<Output>()));
  build.before = last;
  last = build;
  known.add(name, changetype<usize>(build));
  return build;
}

/** Accounts for each build that failed: if no package has spoken of it, it is a finding of its own. */
export function normalizeBuilds(): void {
  let build = last;
  while (build) {
    if (build.failure) account(build);
    build = build.before;
  }
}

function account(build: Build): void {
  path.truncate(0);
  path.text("/").number(build.failure - 1);
  if (build.isReported) {
    beginSkipped().text("build-fail");
    endSkipped();
  } else {
    writeFinding("build", build.name, 0, build.output, "does not build");
  }
}
