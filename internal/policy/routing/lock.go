package routing

import (
	"cmp"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// LockFile is the lock's name, next to the directory of the versions.
const LockFile = "versions.lock"

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
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") // git may write both on Windows
		if line == "" || line[0] == '#' {
			continue
		}
		ref, sum, _ := strings.Cut(line, " ")
		name, version, _ := strings.Cut(ref, "@")
		switch {
		case !IsName(name) || !isVersion(version) || !digest.Valid(sum):
			return nil, errs.New(errs.PolicyLockInvalid, "%s:%d: want NAME@VERSION sha256:HEX", LockFile, number).With("line", number)
		case ref == last:
			return nil, errs.New(errs.PolicyLockInvalid, "%s:%d: %s is there twice", LockFile, number, ref).With("line", number)
		case last != "" && CompareRefs(last, ref) >= 0:
			return nil, errs.New(errs.PolicyLockInvalid, "%s:%d: %s must come before %s", LockFile, number, ref, last).With("line", number)
		}
		locked[ref], last = sum, ref
	}
	return locked, nil
}

// CompareRefs orders references by name, then by version.
func CompareRefs(a, b string) int {
	aName, aVersion, _ := strings.Cut(a, "@")
	bName, bVersion, _ := strings.Cut(b, "@")
	return cmp.Or(strings.Compare(aName, bName), compareVersions(aVersion, bVersion))
}
