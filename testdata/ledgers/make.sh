#!/bin/sh
# Makes a project in DIRECTORY with PROGRAM, whose .switchyard has a ledger with a task of
# each status: make.sh PROGRAM DIRECTORY
set -eu
program=$1
mkdir -p "$2/.git"
cd "$2"
export SWITCHYARD_USER=ann

report() {
	printf '{"critic": "critic", "findings": [%s]}\n' "$1"
}
finding() {
	report "{\"category\": \"$1\", \"severity\": \"fail\", \"file\": null, \"line\": null, \"remediation\": \"$2\"}"
}
finding style 'use the formatter' >style.json
finding todo-marker 'answer the open question' >todo.json
finding question-to-user 'Which port shall it be?' >question.json
report '' >clean.json

"$program" round committed --report style.json
"$program" round committed --report clean.json
"$program" round stuck --report style.json --max-rounds 2
"$program" round stuck --report todo.json
"$program" round waiting --report question.json
"$program" round open --report todo.json
"$program" round open --report style.json
"$program" ledger verify
case $("$program" ledger --help) in
*archive*)
	"$program" ledger archive --older-than 1ns
	"$program" ledger compact
	;;
esac
