/**
 * `go-test`: normalizes the events of `go test -json`, one a line.
 *
 * Every event is an item. What failed is told by the `fail` events of tests and
 * packages; all others are skipped by their action. What a test printed comes
 * before its end, and a test's end before its package's, so one walk is enough.
 * A package is only believed once it has ended: whatever is still open at the
 * end of the events was killed.
 */

import { Elements, Value, document, isArray } from "../../sdk/assemblyscript/cursor";
import { readCategories } from "../../sdk/assemblyscript/mapping";
import { Writer } from "../../sdk/assemblyscript/writer";
import { answer, fail, failed, path, refuse, sentence } from "../../sdk/assemblyscript/result";
import { packed } from "../../sdk/assemblyscript/abi";
import { normalizeBuilds } from "./build";
import { normalizeEvent } from "./event";
import { findings } from "./finding";
import { openPackage, packages, tests } from "./package";

export { sy_alloc, switchyard_abi_v1 } from "../../sdk/assemblyscript/abi";

const description = changetype<Writer>(memory.data(offsetof<Writer>()));
const event = changetype<Elements>(memory.data(offsetof<Elements>()));

export function sy_describe(): u64 {
  return packed(
    description
      .text('{"name":"go-test","version":"1.0.0","critic":"go-test","formats":["application/x-ndjson"],')
      .text('"detect":["/Action"],"detect_any":["/Package","/ImportPath"],"items":["/*"]}')
  );
}

export function sy_normalize(report: usize, reportLength: u32, config: usize, configLength: u32): u64 {
  if (readCategories(document(config), "go-test", '"verify-mismatch"')) normalizeEvents(document(report));
  return packed(answer("go-test", 0, 0, 0));
}

function normalizeEvents(events: Value): void {
  if (!isArray(events)) {
    refuse("go-test-invalid", "", "the report", "a list of events", events);
    return;
  }
  for (event.of(events); event.next(); ) {
    path.truncate(0);
    path.text("/").number(event.index);
    normalizeEvent(event.value, event.index);
    if (failed()) return;
  }
  normalizeBuilds();

  path.truncate(0);
  if (!packages) {
    fail(
      "go-test-no-packages", "", sentence("no event is about a package, so nothing was tested"),
      "give all that go test -json wrote", 0
    );
    return;
  }
  const open = openPackage();
  if (open) {
    fail(
      "go-test-incomplete", "",
      sentence("the events end before the package ").excerpt(open).text(" has passed, failed or been skipped"),
      "give all that go test -json wrote; if it was killed, run it again", 0
    );
    return;
  }
  if (!tests && !findings) {
    fail(
      "go-test-no-tests", "", sentence("not a single test was run in any package"),
      "check which packages and tests go test was told to run", 0
    );
  }
}
