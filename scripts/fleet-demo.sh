#!/bin/sh
# Runs tasks on a fleet of processes on this machine: a Temporal dev server, a home and two
# workers with a bare git remote. Meanwhile it kills a worker and the server, and answers a
# question.
#
#   fleet-demo.sh FLEET SWITCHYARD FAKEAGENT TEMPORAL TESTDATA
set -eu

absolute() { echo "$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")"; }
fleet=$(absolute "$1")
switchyard=$(absolute "$2")
temporal=$(absolute "$4")
work=$(mktemp -d)
pids=
cleanup() {
	status=$?
	for pid in $pids; do kill "$pid" 2>/dev/null || true; done
	for pid in $pids; do wait "$pid" 2>/dev/null || true; done
	[ $status = 0 ] || tail -n 20 "$work"/*.log
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { printf '\n%s\n' "$*"; }
show() {
	printf '$ %s\n' "$(echo "$*" | sed "s#$fleet#switchyard-fleet#; s#$switchyard#switchyard#; s#$work/##g")"
	"$@"
}
# start NAME COMMAND...: start a command in the background; its pid is in $NAME.
start() {
	name=$1
	shift
	"$@" >>"$work/$name.log" 2>&1 &
	eval "$name=$!"
	pids="$pids $!"
}
# until_true TEXT COMMAND...: wait until a command succeeds.
until_true() {
	text=$1 tries=0
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { echo "$text: not within two minutes" >&2; exit 1; }
		sleep 0.2
	done
}

mkdir "$work/agents" "$work/shop" "$work/user"
cp "$5"/fleet/agent.sh "$5"/fleet/*.json "$work/agents"
cp "$3" "$work/agents/fakeagent"
# The fake agent writes its calls next to its scenarios.
export SWITCHYARD_CONFINE_WRITE="$work/agents"
export SWITCHYARD_CLAUDE_BIN="$work/agents/agent.sh" XDG_STATE_HOME="$work/state"

git init -q --bare "$work/remote.git"
cp "$5"/fleet/tasks.yaml "$work"
cd "$work/shop"
echo 'verify: "ls changes"' >switchyard.yaml
git init -q
git config user.name Demo
git config user.email demo@example.com
git add -A
git commit -q -m 'Begin'
git remote add origin "$work/remote.git"
export GIT_AUTHOR_NAME=Demo GIT_AUTHOR_EMAIL=demo@example.com GIT_COMMITTER_NAME=Demo GIT_COMMITTER_EMAIL=demo@example.com

port=$((20000 + $$ % 20000))
export TEMPORAL_ADDRESS="127.0.0.1:$port"
serve() {
	start server "$temporal" server start-dev --headless --ip 127.0.0.1 --port "$port" --db-filename "$work/temporal.db" --log-level error \
		--search-attribute SwitchyardProject=Keyword --search-attribute SwitchyardStatus=Keyword
	until_true 'the server' "$temporal" operator namespace describe --address "$TEMPORAL_ADDRESS" -n default
}
worker() { start "$1" "$fleet" worker --store "$work/store" --dir "$work/$1"; }

say 'A Temporal server, the home of the project, and two workers start.'
serve
start home "$fleet" ledger --store "$work/store"
worker one
worker two

say 'Five tasks are started. One depends on another.'
show "$fleet" run --tasks "$work/tasks.yaml" --store "$work/store" --detach
running() { "$fleet" status --output json | grep -q '"status": *"open"'; }
until_true 'the tasks' running
sleep 2
show "$fleet" status

say 'A worker is killed in the middle of its agents, and then the server.'
kill -9 "$one"
sleep 1
kill -9 "$server"
sleep 1
serve
worker three

say 'A task has a question. It waits for the answer, for days if need be.'
asked() { "$fleet" status ask-1 --output json | grep -q '"waiting"'; }
until_true 'the question' asked
show "$fleet" status ask-1
show "$fleet" answer ask-1 --text 'One line is enough.'

say 'In the end every task is committed, and its branch is on the remote.'
show "$fleet" run --tasks "$work/tasks.yaml" --store "$work/store"
show git -C "$work/remote.git" --no-pager log --oneline --no-decorate --branches='switchyard/*'

say 'The ledger is at home, and whole.'
show "$switchyard" ledger verify
