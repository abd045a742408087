#!/bin/sh
# Runs Switchyard's main job on real reports, in a throw-away project.
#
#   demo.sh BINARY REPORTS
set -eu

switchyard=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")
reports=$(CDPATH='' cd -- "$2" && pwd)
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
trap 'exit 130' INT TERM

cp "$reports"/*.json "$reports"/*.sarif "$project"
cd "$project"
: > switchyard.yaml # marks the root of a project

# show COMMAND...: print a command as one would type it, and run it.
show() {
	printf '\n$ switchyard %s\n' "$*"
	"$switchyard" "$@"
}

echo 'A critic reviewed round 1 of a task. Where does the task go?'
show round M001-S001-T0001 --report trace.json

echo
echo 'The research is done, and round 2 is clean.'
show round M001-S001-T0001 --report clean.json --verify green

echo
echo 'Two linters review another task.'
show round LINT-1 --report staticcheck-logrus.sarif --report gosec-logrus.sarif

echo
echo 'A third task needs its user. Until there is an answer, it takes no round.'
show round M001-S001-T0003 --report question.json
show answer M001-S001-T0003 --choice 2

echo
echo 'Where does every task stand, why, and did anybody change the record?'
show status
show explain M001-S001-T0001 --round 1
show ledger verify --decisions

echo
echo 'What would the first version of the policy have decided, and what is checked of the one that did?'
show policy replay --policy routing@1.0.0
show policy verify
