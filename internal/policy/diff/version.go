package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// firstVersion is the version of a policy without a predecessor.
const firstVersion = "1.0.0"

// NextVersion returns the version after from for a step: the next patch for None, else
// the next minor or major version. If from is "", it returns 1.0.0; if from is not three
// numbers, "".
func NextVersion(from string, s Step) string {
	if from == "" {
		return firstVersion
	}
	v, ok := parseVersion(from)
	if !ok {
		return ""
	}
	return v.next(s).String()
}

// Enough reports whether to may follow from with a change of that step: it must be the
// next patch, minor or major version, without gaps, and not too small a step. If from is
// "", any version of three numbers is accepted. Pre-releases are never accepted: a
// released version is three numbers.
func Enough(from, to string, s Step) bool {
	if from == "" {
		_, ok := parseVersion(to)
		return ok
	}
	for _, step := range []Step{None, Minor, Major} {
		if to != "" && to == NextVersion(from, step) {
			return step.rank() >= s.rank()
		}
	}
	return false
}

// version is the major, minor and patch number.
type version [3]uint64

func parseVersion(s string) (version, bool) {
	parts := strings.Split(s, ".")
	var v version
	if len(parts) != len(v) {
		return version{}, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || strconv.FormatUint(n, 10) != part { // no sign, no leading zero
			return version{}, false
		}
		v[i] = n
	}
	return v, true
}

func (v version) next(s Step) version {
	switch s {
	case None:
		return version{v[0], v[1], v[2] + 1}
	case Minor:
		return version{v[0], v[1] + 1, 0}
	default:
		return version{v[0] + 1, 0, 0}
	}
}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
