/*
 * A plugin for the test of sy_previous: it copies what a report says about earlier
 * findings, without a check.
 */

#include "switchyard.h"

SY_DESCRIBE({
  "name": "previous",
  "version": "1.0.0",
  "critic": "previous",
  "formats": ["application/json"],
  "detect": [],
  "items": ["/findings/*", "/previous/*"]
})

static void normalize(sy_value report, sy_value config) {
  (void)config;
  size_t outside = sy_enter("findings");
  for (sy_elements e = sy_elements_of(sy_find(report, "findings")); sy_next_element(&e);) {
    size_t list = sy_enter_index(e.index);
    sy_writer *finding = sy_begin_finding();
    sy_member_literal(finding, "category", "contradiction");
    sy_member_literal(finding, "remediation", "undo it");
    sy_member_value(finding, "undoes", sy_find(e.value, "undoes"));
    sy_end_finding();
    sy_leave(list);
  }
  sy_leave(outside);
  sy_enter("previous");
  for (sy_elements e = sy_elements_of(sy_find(report, "previous")); sy_next_element(&e);) {
    size_t list = sy_enter_index(e.index);
    sy_previous(sy_find(e.value, "id"), sy_find(e.value, "status"));
    sy_leave(list);
  }
}

SY_NORMALIZE(normalize, "previous")
