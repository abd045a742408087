package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// firstVersion is that of a policy that nothing comes before.
const firstVersion = "1.0.0"

// NextVersion returns the version that a change of that size makes of from: the
// next patch for None, the next minor or the next major version. Of no version,
// "", it makes 1.0.0, and of a from that is not three numbers nothing, "".
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

// Enough says that to may follow from with a change of that size: it is the next
// patch, minor or major version, so that no number is left out, and the step is
// not too small. Any version of three numbers may come first, where from is "".
// Pre-releases are never enough: a released version is three numbers.
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
