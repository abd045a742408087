/**
 * One event.
 */

import {
  Members, Value, isBlank, isFilledString, isObject, isString, says
} from "../../sdk/assemblyscript/cursor";
import { beginSkipped, endSkipped, fail, failed, refuse, sentence } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";
import { Build, buildOf } from "./build";
import { writeFinding } from "./finding";
import { Telling } from "./output";
import { Package, Test, packageOf } from "./package";
import { Lines } from "../../sdk/assemblyscript/text";

/** The members of an event that matter. */
@unmanaged
class Event {
  action: Value;
  package: Value;
  test: Value;
  output: Value;
  importPath: Value;
  failedBuild: Value;

  read(event: Value): void {
    memory.fill(changetype<usize>(this), 0, offsetof<Event>());
    for (member.of(event); member.next(); ) {
      if (member.is("Action")) this.action = member.value;
      else if (member.is("Package")) this.package = optionalString("Package");
      else if (member.is("Test")) this.test = optionalString("Test");
      else if (member.is("Output")) this.output = optionalString("Output");
      else if (member.is("ImportPath")) this.importPath = optionalString("ImportPath");
      else if (member.is("FailedBuild")) this.failedBuild = optionalString("FailedBuild");
    }
  }
}

const event = changetype<Event>(memory.data(offsetof<Event>()));
const member = changetype<Members>(memory.data(offsetof<Members>()));
const line = changetype<Lines>(memory.data(offsetof<Lines>()));
const nameless = changetype<Writer>(memory.data(offsetof<Writer>()));

/** Accounts for the event at `value`, where `path` is, or fails. */
export function normalizeEvent(value: Value, index: i32): void {
  if (!isObject(value)) {
    refuse("go-test-invalid", "", "an event", "an object", value);
    return;
  }
  event.read(value);
  const action = event.action;
  if (!isFilledString(action)) refuse("go-test-invalid", "", "the action", "a string that isn't empty", action);
  if (failed()) return;

  if (says(action, "output")) {
    const it = packageOf(packageName());
    if (event.test) addTestOutput(it.test(event.test));
    else if (event.output) addOutput(it, event.output);
  } else if (says(action, "run")) {
    const it = packageOf(packageName());
    if (event.test) it.test(event.test).run();
  } else if (says(action, "pass") || says(action, "skip") || says(action, "bench")) {
    const it = packageOf(packageName());
    if (event.test) it.test(event.test).hasEnded = true;
    else if (says(action, "pass")) passPackage(it);
    else if (says(action, "skip")) it.isOpen = false;
  } else if (says(action, "pause") || says(action, "cont") || says(action, "start") || says(action, "attr") || says(action, "artifacts")) {
    packageOf(packageName());
  } else if (says(action, "fail")) {
    const it = packageOf(packageName());
    if (event.test) failTest(it, it.test(event.test));
    else failPackage(it);
    return;
  } else if (says(action, "build-output")) {
    const build = buildOfEvent();
    if (build && event.output) addBuildOutput(build, event.output);
  } else if (says(action, "build-fail")) {
    const build = buildOfEvent();
    if (build && !build.failure) {
      // Whether it is a finding is known at the end.
      build.failure = index + 1;
      return;
    }
  } else {
    refuse("go-test-invalid-action", "/Action", "the action", "one that go test -json has", action);
  }
  if (failed()) return;
  beginSkipped().inside(action);
  endSkipped();
}

/** A test that failed because a part of it did has nothing to add, unless it panicked. */
function failTest(it: Package, test: Test): void {
  test.hasEnded = true;
  it.failedTests++;
  it.failPart(test);
  if (test.hasFailedPart && test.output.telling != Telling.PANIC) {
    beginSkipped().text("a subtest failed");
    endSkipped();
    return;
  }
  writeFinding("test", it.name, test.name, test.output, "failed");
}

/**
 * A package that failed because of its tests has nothing to add. One that was
 * not built, or that ended in the middle of a test, has.
 */
function failPackage(it: Package): void {
  it.isOpen = false;
  const test = it.unfinished();
  if (event.failedBuild) {
    const build = buildOf(event.failedBuild);
    build.isReported = true;
    writeFinding("build", it.name, 0, build.output, "does not build");
  } else if (test && test.output.telling == Telling.PANIC) {
    writeFinding("test", it.name, test.name, test.output, "");
  } else if (it.failedTests) {
    beginSkipped().text("a test failed");
    endSkipped();
  } else if (test) {
    // It ended the whole process. Most tell why before they do.
    writeFinding("test", it.name, test.name, test.output.telling ? test.output : it.output, "did not end");
  } else {
    if (!it.output.telling && it.verdict) it.output.add(it.verdict);
    writeFinding("package", it.name, 0, it.output, "failed");
  }
}

/**
 * A package passes by its exit status, which a TestMain may make up. Where the
 * tests themselves have said `FAIL`, at least one of them has to have failed.
 */
function passPackage(it: Package): void {
  it.isOpen = false;
  if (it.failedTests || !it.verdict || !says(it.verdict, "FAIL\n")) return;
  fail(
    "go-test-contradiction", "",
    sentence("the package ").excerpt(it.name).text(" has passed, but it printed FAIL and none of its tests has failed"),
    "find out what failed outside of the tests; a TestMain has to exit with what m.Run returns", 0
  );
}

function addTestOutput(test: Test): void {
  if (event.output) test.output.add(event.output);
}

/** Keeps what a package printed, but not how `go test` sums it up. */
function addOutput(it: Package, output: Value): void {
  line.of(output);
  if (!line.next() || line.begins("PASS") || line.begins("ok ") || line.begins("exit status ") || line.begins("coverage: ")) return;
  if (line.begins("FAIL")) it.verdict = output;
  else it.output.add(output);
}

/** Keeps what a build printed, but not the names of the packages. */
function addBuildOutput(build: Build, output: Value): void {
  line.of(output);
  if (line.next() && !line.begins("# ")) build.output.add(output);
}

/** The build that the event is about; anything but a name fails. */
function buildOfEvent(): Build | null {
  if (event.importPath) return buildOf(event.importPath);
  refuse("go-test-invalid", "", "ImportPath", "a string that isn't empty", 0);
  return null;
}

/** The event's package; where test2json runs alone, it may not know the name. */
function packageName(): Value {
  if (event.package) return event.package;
  return nameless.length ? nameless.start : nameless.text('""').start;
}

/** The current member's string, or 0 where it is null or empty; anything else fails. */
function optionalString(name: string): Value {
  if (isBlank(member.value)) return 0;
  if (!isString(member.value)) refuse("go-test-invalid", "", name, "a string", member.value);
  return member.value;
}
