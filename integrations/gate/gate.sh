#!/bin/sh
# Passes if the proof in a commit's git note shows that it was reviewed and approved.
#
#   gate.sh COMMIT KEY [ALGORITHM]
#
# KEY is a file with the public key that the proof has to be signed with. It must not come
# from the commit that is checked.
set -eu

commit=$1 key=$2 algorithm=${3:-ES256}
proof=$(mktemp)
trap 'rm -f "$proof"' EXIT
trap 'exit 130' INT TERM
git fetch --quiet origin '+refs/notes/switchyard:refs/notes/switchyard' || true # There may be no notes yet.
if ! git notes --ref switchyard show "$commit" >"$proof"; then
	echo "not reviewed: commit $commit has no proof in refs/notes/switchyard" >&2
	exit 17
fi
switchyard gate --commit "$commit" --proof "$proof" --key "$key" --algorithm "$algorithm"
