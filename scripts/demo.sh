#!/bin/sh
# Runs Switchyard's main jobs in throw-away projects: it decides on real reports, and
# drives a task to a commit with a fake agent.
#
#   demo.sh SWITCHYARD FAKEAGENT TESTDATA
set -eu

absolute() { echo "$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")"; }
switchyard=$(absolute "$1")
agent=$(absolute "$2")
testdata=$(absolute "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

mkdir "$work/reports" "$work/shop" "$work/agent"
cp "$testdata"/reports/*.json "$testdata"/reports/*.sarif "$work/reports"
cd "$work/reports"
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

if ! command -v git >/dev/null; then
	echo
	echo 'git is not installed, so that no task can be driven to a commit.'
	exit
fi
cp "$testdata"/run/*.sh "$testdata"/run/task.md "$work/shop"
cp "$testdata"/run/agent.json "$work/agent"
cd "$work/shop"
printf 'verify: sh test.sh\n' > switchyard.yaml
git init -q
git config user.name Demo
git config user.email demo@example.com
git add -A
git commit -q -m 'Upload a file'
export SWITCHYARD_CLAUDE_BIN="$agent" SWITCHYARD_FAKE_SCENARIO="$work/agent/agent.json" XDG_STATE_HOME="$work/state"
export SWITCHYARD_CONFINE_WRITE="$work/agent" # The fake agent notes its calls there.

echo
echo 'A task goes in, a commit comes out. A fake agent plays the executor, the critic and the build-fixer.'
show run RETRY-1 --prompt-file task.md

echo
echo 'The commit names its decision, and so leads to its evidence.'
printf '\n$ git log -1 switchyard/RETRY-1\n'
git --no-pager log -1 switchyard/RETRY-1
show explain --commit switchyard/RETRY-1
