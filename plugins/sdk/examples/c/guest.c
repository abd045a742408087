/*
 * A plugin that reads the reports of todo-scan, a made-up tool:
 *
 *     {"tool": "todo-scan", "complete": true, "items": [
 *       {"path": "./a.go", "line": 7, "tag": "FIXME", "priority": "high", "text": "close the file"}
 *     ]}
 */

#include "switchyard.h"

#define INVALID "todo-scan-invalid"

SY_DESCRIBE({
  "name": "todo-scan",
  "version": "1.0.0",
  "critic": "todo-scan",
  "formats": ["application/json"],
  "detect": ["/tool", "/items"],
  "items": ["/items/*"]
})

/* The category of the first label that has one, or NULL. Fails where these are no
   labels. */
static sy_value category_of_labels(sy_value labels) {
  if (sy_is_absent(labels)) return NULL;
  if (!sy_is_array(labels)) sy_refuse(INVALID, "labels", "an array of strings", labels);
  sy_value category = NULL;
  for (sy_elements label = sy_elements_of(labels); sy_next_element(&label);) {
    if (!sy_is_string(label.value)) {
      sy_enter("labels");
      sy_enter_index(label.index);
      sy_refuse(INVALID, NULL, "a string", label.value);
      return NULL;
    }
    if (!category) category = sy_category_of_tag(label.value);
  }
  return category;
}

static void normalize_item(sy_value item) {
  if (!sy_is_object(item)) {
    sy_refuse(INVALID, NULL, "an object", item);
    return;
  }
  sy_value path = NULL, line = NULL, tag = NULL, priority = NULL, labels = NULL, text = NULL, ignored = NULL;
  for (sy_members m = sy_members_of(item); sy_next_member(&m);) {
    if (sy_key_is(&m, "path")) path = m.value;
    else if (sy_key_is(&m, "line")) line = m.value;
    else if (sy_key_is(&m, "tag")) tag = m.value;
    else if (sy_key_is(&m, "priority")) priority = m.value;
    else if (sy_key_is(&m, "labels")) labels = m.value;
    else if (sy_key_is(&m, "text")) text = m.value;
    else if (sy_key_is(&m, "ignored")) ignored = m.value;
  }
  if (!sy_is_filled(path)) sy_refuse(INVALID, "path", "a path", path);
  if (!sy_is_absent(line) && sy_whole(line) < 1) sy_refuse(INVALID, "line", "a whole number from 1 to 2147483647", line);
  if (!sy_is_filled(tag)) sy_refuse(INVALID, "tag", "a tag", tag);
  if (!sy_is_string(text)) sy_refuse(INVALID, "text", "a string", text);
  if (!sy_is_absent(ignored) && !sy_is_boolean(ignored)) sy_refuse(INVALID, "ignored", "true or false", ignored);
  bool high = sy_says(priority, "high");
  if (!sy_is_string(priority)) sy_refuse(INVALID, "priority", "a string", priority);
  else if (!high && !sy_says(priority, "low")) sy_refuse("todo-scan-unknown-priority", "priority", "high or low", priority);
  sy_value tagged = category_of_labels(labels);
  if (sy_failed()) return;
  if (sy_is_true(ignored)) {
    sy_skip("ignored in the source");
    return;
  }

  sy_value category = sy_category_of_rule(tag);
  if (!category) category = tagged;
  if (!category) category = sy_category_of_severity(priority);
  sy_text file = sy_read(path);
  if (file.length >= 2 && file.at[0] == '.' && file.at[1] == '/') file = (sy_text){file.at + 2, file.length - 2};

  sy_writer *finding = sy_begin_finding();
  sy_put_category(finding, category, tag);
  sy_member_literal(finding, "severity", high ? "risk" : "nit");
  sy_member_text(finding, "file", file);
  sy_member_value(finding, "line", line);
  sy_put_key(finding, "remediation");
  sy_put(finding, "\"");
  sy_put_inside(finding, tag);
  sy_put(finding, ": ");
  sy_put_inside(finding, text);
  sy_put(finding, "\"");
  sy_end_finding();
}

static void normalize(sy_value report, sy_value config) {
  if (!sy_read_categories(config, "todo-scan", "todo-marker")) return;
  if (!sy_is_object(report)) {
    sy_refuse(INVALID, NULL, "an object", report);
    return;
  }
  sy_value tool = sy_find(report, "tool"), complete = sy_find(report, "complete"), items = sy_find(report, "items");
  if (!sy_says(tool, "todo-scan")) sy_refuse(INVALID, "tool", "todo-scan", tool);
  if (!sy_is_boolean(complete)) {
    sy_refuse(INVALID, "complete", "true or false", complete);
  } else if (!sy_is_true(complete)) {
    /* Nobody has checked what the tool has not seen. */
    sy_fail("todo-scan-incomplete", "complete", sy_sentence("the scan was not completed"), "", complete);
  }
  if (!sy_is_array(items)) sy_refuse(INVALID, "items", "an array", items);
  sy_enter("items");
  for (sy_elements e = sy_elements_of(items); !sy_failed() && sy_next_element(&e);) {
    size_t outside = sy_enter_index(e.index);
    normalize_item(e.value);
    sy_leave(outside);
  }
}

SY_NORMALIZE(normalize, "todo-scan")
