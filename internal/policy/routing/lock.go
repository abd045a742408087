package routing

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// LockFile is the lock's name, next to the folder of the versions.
const LockFile = "versions.lock"

// VerifyLock checks that versions.lock lists exactly the embedded policies, with their
// digests. It guards the promise that a released version never changes.
//
// # Errors
//
//   - policy-lock-invalid: the lock is malformed.
//   - policy-lock-mismatch: the lock and the policies differ. The details are the
//     reference, and the digests want (from the lock) and got, "" if missing.
//   - The errors of Load.
func (l Loader) VerifyLock(ctx context.Context) error {
	text, err := fs.ReadFile(l.Released, LockFile)
	if err != nil {
		return errs.New(errs.PolicyLockInvalid, "read %s: %w", LockFile, err)
	}
	locked, err := ParseLock(string(text))
	if err != nil {
		return err
	}
	actual := make(map[string]string)
	for _, ref := range l.Versions() {
		p, err := l.Load(ctx, ref)
		if err != nil {
			return err
		}
		if p.String() != ref {
			return errs.New(errs.PolicyLockMismatch, "the METADATA of %s says %s", ref, p).With("policy", ref)
		}
		actual[ref] = p.identity.Digest
	}
	return compareLock(locked, actual)
}

// compareLock requires both maps to be equal.
func compareLock(locked, actual map[string]string) error {
	refs := slices.AppendSeq(slices.Collect(maps.Keys(locked)), maps.Keys(actual))
	slices.Sort(refs) // for a deterministic error
	for _, ref := range refs {
		if want, got := locked[ref], actual[ref]; want != got {
			return errs.New(errs.PolicyLockMismatch, "policy %s differs from its line in %s", ref, LockFile).
				With("policy", ref).
				With("want", want).
				With("got", got)
		}
	}
	return nil
}

// ParseLock parses a lock. Each line is a reference, a space and a digest; lines that are
// empty or begin with # are skipped. References must be sorted and unique, so that two
// branches that add a version cause a merge conflict. The caller owns the map.
//
// # Errors
//
// policy-lock-invalid, with the line counted from 1.
func ParseLock(text string) (map[string]string, error) {
	locked := make(map[string]string)
	last, number := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		ref, sum, _ := strings.Cut(line, " ")
		name, version, _ := strings.Cut(ref, "@")
		switch {
		case !IsName(name) || !isVersion(version) || !digest.Valid(sum):
			return nil, errs.New(errs.PolicyLockInvalid, "%s:%d: want NAME@VERSION sha256:HEX", LockFile, number).With("line", number)
		case last != "" && compareRefs(last, ref) >= 0:
			return nil, errs.New(errs.PolicyLockInvalid, "%s:%d: %s must come before %s", LockFile, number, ref, last).With("line", number)
		}
		locked[ref], last = sum, ref
	}
	return locked, nil
}

// compareRefs orders by name, then by version.
func compareRefs(a, b string) int {
	aName, aVersion, _ := strings.Cut(a, "@")
	bName, bVersion, _ := strings.Cut(b, "@")
	return cmp.Or(strings.Compare(aName, bName), compareVersions(aVersion, bVersion))
}
