#!/bin/sh
# Passes if the proofs in the git notes of commits show that they were reviewed and approved.
#
#   gate.sh COMMIT KEY [ALGORITHM [BASE]]
#
# With BASE, all that COMMIT has and BASE lacks must have been reviewed: by one review, which
# the note of COMMIT proves, or each commit by its own. Without it, only COMMIT is checked.
# KEY is a file with the public key that the proofs have to be signed with. It must not come
# from the branch that is checked. The exit statuses are those of switchyard gate.
set -eu

# Objects that replace others, and grafts, could hide commits. Switchyard ignores them too.
export GIT_NO_REPLACE_OBJECTS=1 GIT_GRAFT_FILE=/dev/null/none

fail() {
	echo "gate.sh: $1" >&2
	exit 1
}

# find prints the hash of a commit. Git takes the name of a branch for a tag of the same name,
# which others may be able to push.
find() {
	case $(LC_ALL=C git -c core.warnAmbiguousRefs=true rev-parse --verify "$1^{commit}" 2>&1) in
	*"is ambiguous"*) fail "the name $1 is ambiguous: write refs/heads/NAME or refs/remotes/NAME for a branch" ;;
	esac
	git rev-parse --verify --quiet "$1^{commit}" || fail "cannot read commit $1"
}

# check runs switchyard gate, with the arguments after the first, on the proof of a commit.
check() {
	if ! git notes --ref switchyard show "$1" >"$proof"; then
		echo "not reviewed: commit $1 has no proof in refs/notes/switchyard" >&2
		return 17
	fi
	shift
	switchyard gate "$@" --proof "$proof" --key "$key" --algorithm "$algorithm"
}

key=${2:?"usage: gate.sh COMMIT KEY [ALGORITHM [BASE]]"} algorithm=${3:-ES256} base=${4:-}
commit=$(find "$1")
[ -z "$base" ] || base=$(find "$base")
proof=$(mktemp)
trap 'rm -f "$proof"' EXIT
trap 'exit 130' INT TERM
# There may be no notes yet: git fails for a missing name, and not for a pattern.
git fetch --quiet origin '+refs/notes/switchyard*:refs/notes/switchyard*' || fail "cannot fetch the proofs"

if [ -z "$base" ]; then
	check "$commit" --commit "$commit"
	exit
fi
status=0
check "$commit" --range "$base..$commit" || status=$?
commits=$(git rev-list --reverse "$base..$commit") || fail "cannot list the commits since $base"
case $status,$commits in
0,* | *, | *,"$commit") exit $status ;;
esac
status=0
for each in $commits; do
	check "$each" --commit "$each" || status=$?
done
[ $status != 0 ] || echo "passed: each commit since $base was reviewed and approved"
exit $status
