/**
 * Criteria: what isn't satisfied becomes a finding.
 */

import { Members, Value, isArray, isFilledString, isObject, kindOf, says } from "../../sdk/assemblyscript/cursor";
import { beginFinding, beginSkipped, endFinding, endSkipped, refuse } from "../../sdk/assemblyscript/result";
import { Writer } from "../../sdk/assemblyscript/writer";

const member = changetype<Members>(memory.data(offsetof<Members>()));

/**
 * Writes the criterion at `value`, where `path` is, as a finding or, if it is
 * satisfied, as a skipped entry, or fails. Returns whether it is a finding.
 */
export function normalizeCriterion(critic: Value, value: Value, index: i32): bool {
  if (!isObject(value)) {
    return refuse("critic-output-malformed-criterion", "", "a criterion", "an object", value);
  }
  let id: Value = 0;
  let criterionId: Value = 0;
  let verdict: Value = 0;
  let evidence: Value = 0;
  let missingInfo: Value = 0;
  for (member.of(value); member.next(); ) {
    if (member.is("id")) id = member.value;
    else if (member.is("criterion_id")) criterionId = member.value;
    else if (member.is("verdict")) verdict = member.value;
    else if (member.is("evidence")) evidence = member.value;
    else if (member.is("missing_info")) missingInfo = member.value;
  }
  if (!isFilledString(id)) id = isFilledString(criterionId) ? criterionId : 0;

  if (says(verdict, "Satisfied")) {
    beginSkipped().text("satisfied");
    endSkipped();
    return false;
  }
  const missing = says(verdict, "Information-Missing");
  const finding = beginFinding()
    .text('"critic":').value(critic)
    .text(',"category":').text(missing ? '"information-missing"' : '"unmet-criterion"')
    .text(',"severity":"fail","file":"-","line":null,"remediation":"');
  if (missing) {
    if (isFilledString(missingInfo)) finding.inside(missingInfo);
    else name(finding, id, index).text(" lacks information; the critic does not say which.");
  } else if (says(verdict, "Unsatisfied")) {
    if (isFilledString(evidence)) finding.inside(evidence);
    else name(finding, id, index).text(" is unsatisfied; the critic cites no evidence.");
  } else {
    // Any other verdict, even "satisfied", fails closed: nobody has vouched
    // for this criterion in the words that were agreed.
    name(finding, id, index).text(" has an unrecognised verdict: ");
    // The finding must not depend on the white space in the report.
    if (isArray(verdict) || isObject(verdict)) finding.text("an ").text(kindOf(verdict));
    else finding.excerpt(verdict);
    finding.text("; accepted are Satisfied, Unsatisfied and Information-Missing.");
  }
  finding.text('"');
  endFinding();
  return true;
}

/** Begins a sentence about the criterion: by its id or, without one, its position. */
function name(finding: Writer, id: Value, index: i32): Writer {
  finding.text("Criterion ");
  return id ? finding.inside(id) : finding.text("#").number(index + 1);
}
