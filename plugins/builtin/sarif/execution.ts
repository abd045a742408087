/**
 * Did the tool succeed? A run is evidence only if nothing says that it failed.
 */

import { Elements, Value, find, isAbsent, isBoolean, isFalse, isObject, wholeNumber } from "../../sdk/assemblyscript/cursor";
import { fail, failed, refuse, sentence } from "../../sdk/assemblyscript/result";
import { invocation, invocationIndex, nextInvocation, startInvocations } from "./invocations";
import { levelIn, readOverrides } from "./overrides";
import { ruleOf } from "./rules";
import { Level, levelOf } from "./severity";
import { optionalArray, optionalObject } from "./shape";
import { readTool } from "./tool";

const notification = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Whether descriptions of the notifications were read, and whether they are needed. */
let described: bool = false;
let undescribed: bool = false;

/** Checks the invocations of the run or conversion at `path`, made by `tool`. Every one must have succeeded. */
export function checkInvocations(invocations: Value, tool: Value): void {
  described = false;
  undescribed = false;
  startInvocations(invocations);
  while (nextInvocation()) checkInvocation(invocation);
  if (!undescribed || failed()) return;
  described = true;
  readTool(tool, "notification", "notifications");
  readOverrides(invocations, "notificationConfigurationOverrides");
  startInvocations(invocations);
  while (nextInvocation()) checkNotifications(invocation);
}

/** A tool that doesn't say it succeeded may not have seen all that it should have: no evidence. */
function checkInvocation(value: Value): void {
  if (!isObject(value)) {
    refuse("sarif-invalid", "", "an invocation", "an object", value);
    return;
  }
  const success = find(value, "executionSuccessful");
  if (!isBoolean(success) || isFalse(success)) failExecution("executionSuccessful", success);
  checkMissing(value, "exitSignalName");
  if (wholeNumber(find(value, "exitSignalNumber"))) checkMissing(value, "exitSignalNumber");
  checkMissing(value, "processStartFailureMessage");
  checkNotifications(value);
}

function checkNotifications(value: Value): void {
  checkThese(value, "toolExecutionNotifications");
  checkThese(value, "toolConfigurationNotifications");
}

/** Checks that an invocation tells of no error: a rule or a file that a tool gives up on is no failure to it. */
function checkThese(value: Value, name: string): void {
  const notifications = optionalArray(find(value, name), name);
  if (!notifications) return;
  for (notification.of(notifications); notification.next(); ) {
    const value = optionalObject(notification.value, "a notification");
    if (levelOfNotification(value) != Level.ERROR) continue;
    fail(
      "sarif-execution-failed", "",
      sentence("one of its ").text(name).text(" is an error: ").excerpt(find(find(value, "message"), "text")),
      "find out why and run the tool again", value
    );
    return;
  }
}

/** The notification's level, else the one that its descriptor has in its invocation, else the descriptor's default. */
function levelOfNotification(value: Value): Level {
  const level = levelOf(find(value, "level"));
  const descriptor = find(value, "descriptor");
  if (level || isAbsent(descriptor)) return level;
  if (!described) {
    undescribed = true;
    return Level.UNSAID;
  }
  const rule = ruleOf(descriptor, 0, 0);
  if (!rule) return Level.UNSAID;
  const overridden = levelIn(invocationIndex, rule);
  return overridden ? overridden : rule.level;
}

/** Checks that an invocation does not have a member that only failures have. */
function checkMissing(value: Value, name: string): void {
  const found = find(value, name);
  if (!isAbsent(found)) failExecution(name, found);
}

function failExecution(name: string, found: Value): void {
  fail(
    "sarif-execution-failed", "",
    sentence(name).text(" of the tool is ").excerpt(found),
    "find out why and run the tool again", found
  );
}
