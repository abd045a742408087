#!/bin/sh
# Passes if the proof in a commit's git note shows that it was reviewed and approved.
#
#   gate.sh COMMIT KEY [ALGORITHM]
#
# KEY is a file with the public key that the proof has to be signed with. It must not come
# from the commit that is checked. The exit statuses are those of switchyard gate.
set -eu

fail() {
	echo "gate.sh: $1" >&2
	exit 1
}

key=$2 algorithm=${3:-ES256}
commit=$(git rev-parse --verify --quiet "$1^{commit}") || fail "cannot read commit $1"
proof=$(mktemp)
trap 'rm -f "$proof"' EXIT
trap 'exit 130' INT TERM
# There may be no notes yet: git fails for a missing name, and not for a pattern.
git fetch --quiet origin '+refs/notes/switchyard*:refs/notes/switchyard*' || fail "cannot fetch the proofs"
if ! git notes --ref switchyard show "$commit" >"$proof"; then
	echo "not reviewed: commit $commit has no proof in refs/notes/switchyard" >&2
	exit 17
fi
switchyard gate --commit "$commit" --proof "$proof" --key "$key" --algorithm "$algorithm"
