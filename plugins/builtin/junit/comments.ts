/**
 * The root's comments, in which Node says how many tests failed. Where a test
 * fails after its subtests passed, nothing else in its report does.
 */

import { Elements, Value, isString, readText, textAt, textLength } from "../../sdk/assemblyscript/cursor";
import { fail, path, sentence } from "../../sdk/assemblyscript/result";
import { begins } from "../../sdk/assemblyscript/text";

const comment = changetype<Elements>(memory.data(offsetof<Elements>()));

/** Refuses the comments of a report that shows no failure, where `path` is the root, if they count one. */
export function checkComments(comments: Value): void {
  for (comment.of(comments); comment.next(); ) {
    if (!isString(comment.value)) continue;
    readText(comment.value);
    checkCount("fail ", " tests failed, and shows none");
    checkCount("cancelled ", " tests were cancelled, and shows none");
  }
}

/** Fails if the text that was read last is `word` and a number other than 0. */
function checkCount(word: string, what: string): void {
  const stop = textAt + textLength;
  const number = textAt + word.length;
  if (!begins(textAt, stop, word)) return;
  let some = false;
  for (let at = number; at < stop; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) return;
    if (digit) some = true;
  }
  if (!some) return;
  path.text("/#comment/").number(comment.index);
  fail(
    "junit-contradiction", "", sentence("the report says that ").bytes(number, stop - number).text(what),
    "", comment.value
  );
}
