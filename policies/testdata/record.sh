#!/bin/sh
# Records the rounds of recorded.jsonl: decisions about typical tasks, made one after the
# other by each version of the policy while it was current. The decision records have
# replays of this file.
#
#   record.sh BINARY >recorded.jsonl
#
# Times and hashes differ with each run; decisions and their replays do not. Once a
# decision record has a replay of the file, it only grows.
set -eu

switchyard=$(command -v -- "$1")
case $switchyard in
/*) ;;
*) switchyard=$PWD/$switchyard ;;
esac
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
trap 'exit 130' INT TERM
cd "$project"
: >switchyard.yaml # marks the root of a project

# adopt VERSION: makes that version the active policy.
adopt() {
	"$switchyard" policy adopt "routing@$1" >&2
}

# review TASK ROUND VERIFY CAP FINDING...: a round with a critic's report. A FINDING is
# CATEGORY, CATEGORY@LINE or CATEGORY@LINE:SEVERITY; the same one in two rounds is a
# repeat.
review() {
	task=$1 round=$2 verify=$3 cap=$4
	shift 4
	findings='' verdict=passed
	for finding in "$@"; do
		severity=${finding##*:} finding=${finding%:*}
		[ "$severity" != "$finding" ] || severity=fail
		category=${finding%@*} line=${finding##*@} question=null
		[ "$line" != "$finding" ] || line=1
		[ "$category" != question-to-user ] || question='"Which of the two?"'
		findings="$findings${findings:+, }{\"id\": \"F-$category-$line\", \"category\": \"$category\", \"severity\": \"$severity\", \"file\": \"src/main.go\",
			\"line\": $line, \"remediation\": \"settle $category in line $line\", \"criterion_id\": null, \"question_to_user\": $question}"
		verdict=issues_found
	done
	printf '{"critic": "critic", "task_id": "%s", "round": %s, "criteria": [], "findings": [%s], "verdict": "%s"}' \
		"$task" "$round" "$findings" "$verdict" >report.json
	"$switchyard" round "$task" --round "$round" --report np-critic=report.json --verify "$verify" --max-rounds "$cap" >&2
}

# red TASK ROUND CAP: a round with a red verification, so without a review.
red() {
	"$switchyard" round "$1" --round "$2" --verify red --max-rounds "$3" >&2
}

adopt 1.0.0
review A-CLEAN 1 green 3
review A-FIXED 1 green 3 style@3 todo-marker@9
review A-FIXED 2 green 3
review A-CAP 1 green 2 missing-test@4
review A-CAP 2 green 2 missing-test@4
review A-ASKS 1 green 3 question-to-user style@2
review A-LOOKS-UP 1 absent 3 information-missing weak-assertion@7
review A-LOOKS-UP 2 absent 3
review A-PLAN 1 green 3 infrastructure-mismatch information-missing
review A-BROKEN 1 green 3 critic-error
review A-TOO-MUCH 1 green 3 over-engineering@5
review A-IDLE 1 green 6 dead-code@1 style@8
review A-IDLE 2 green 6 dead-code@1 style@8
review A-IDLE 3 green 6 dead-code@1 style@8
review A-IDLE 4 green 6 dead-code@1
red A-RED 1 3
red A-RED 2 3
review A-RED 3 green 3

adopt 1.1.0
review B-SHRINKS 1 green 3 shrinkable@6 stdlib-reinvention@20
review B-SHRINKS 2 green 3 shrinkable@6
review B-SHRINKS 3 green 3
review B-UNKNOWN 1 green 3 secret-in-code@2
review B-IDLE 1 green 5 over-engineering@5
review B-IDLE 2 green 5 over-engineering@5
review B-IDLE 3 green 5 over-engineering@5
review B-BACK 1 green 5 edge-case-gap@3 silenced-failure@4
review B-BACK 2 green 5 silenced-failure@4
review B-BACK 3 green 5 edge-case-gap@3 silenced-failure@4
review B-BACK 4 green 5
review B-ASKS 1 green 3 question-to-user locked-decision-violation
red B-RED 1 2
red B-RED 2 2

adopt 1.2.0
review C-CLEAN 1 absent 3
review C-IDLE 1 green 6 unmet-criterion@1
review C-IDLE 2 green 6 unmet-criterion@1
review C-IDLE 3 green 6 unmet-criterion@1
review C-MOVES 1 green 6 unmet-criterion@1 scope-creep@2
review C-MOVES 2 green 6 unmet-criterion@1 scope-creep@2
review C-MOVES 3 green 6 unmet-criterion@1
review C-MOVES 4 green 6
review C-PLAN 1 green 3 locked-decision-violation comment-hygiene@12
review C-NATIVE 1 green 3 native-duplication@8 import-hygiene@1
review C-NATIVE 2 green 3

# Loops whose findings are new in every review.
review D-MINOR 1 green 9 weak-assertion@1
review D-MINOR 2 green 9 style@2:nit style@3:nit
review D-MINOR 3 green 9 style@4:nit shrinkable@5:nit
review D-MINOR 4 green 9 shrinkable@6:risk comment-hygiene@7:nit
review D-MINOR 5 green 9
review D-GROWS 1 green 9 edge-case-gap@1 style@2:nit
review D-GROWS 2 green 9 edge-case-gap@3 missing-test@4:risk style@5:nit
review D-GROWS 3 green 9 edge-case-gap@6 edge-case-gap@7 missing-test@8:risk
review D-GROWS 4 green 9 edge-case-gap@9 missing-test@10:risk test-naming@11:nit style@12:nit
review D-GROWS 5 green 9 missing-test@13:risk test-naming@14:nit style@15:nit
review D-GROWS 6 green 9
review D-CAP 1 green 2 dead-code@1 missing-test@2:risk
review D-CAP 2 green 2 edge-case-gap@3
review D-FEWER 1 green 9 dead-code@1 missing-test@2:risk style@3:nit
review D-FEWER 2 green 9 edge-case-gap@4 style@5:nit
review D-FEWER 3 green 9 style@6:nit
review D-FEWER 4 green 9
review D-LATE 1 green 9 edge-case-gap@1
review D-LATE 2 green 9 edge-case-gap@2
review D-LATE 3 green 9 edge-case-gap@3
review D-LATE 4 green 9 edge-case-gap@4
review D-LATE 5 green 9 style@5:nit
review D-LATE 6 green 9

"$switchyard" ledger verify >&2
"$switchyard" ledger export
