/**
 * Tags: the words that a property bag gives a result or a rule.
 */

import { Elements, Value, find, isString } from "../../sdk/assemblyscript/cursor";
import { categoryOfTag } from "../../sdk/assemblyscript/mapping";
import { refuse } from "../../sdk/assemblyscript/result";
import { optionalArray, optionalObject } from "./shape";

const tag = changetype<Elements>(memory.data(offsetof<Elements>()));

/** The category of the first tag that the configuration lists; 0 if none. All tags are checked. */
export function categoryOfTags(properties: Value): Value {
  const tags = optionalArray(find(optionalObject(properties, "properties"), "tags"), "tags");
  let category: Value = 0;
  if (!tags) return category;
  for (tag.of(tags); tag.next(); ) {
    if (!isString(tag.value)) refuse("sarif-invalid", "", "a tag", "a string", tag.value);
    else if (!category) category = categoryOfTag(tag.value);
  }
  return category;
}
