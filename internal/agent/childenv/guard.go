package childenv

import (
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The variables that tell a process that it was spawned: ours, and the ones that nubos-pilot
// has for its hooks.
const (
	headless      = "SWITCHYARD_HEADLESS"
	nubosHeadless = "NUBOS_PILOT_HEADLESS"
	depth         = "SWITCHYARD_DEPTH"
	nubosDepth    = "NUBOS_PILOT_HOOK_DEPTH"
	runID         = "SWITCHYARD_RUN"
	// maxDepth is set by the user to the depth to which hooks may be nested.
	maxDepth        = "NUBOS_PILOT_MAX_HOOK_DEPTH"
	defaultMaxDepth = 1
)

// Guard refuses a spawn from within a spawned agent, since an agent that starts the command
// that started it never ends. It prevents accidents, but a process that removes the variables
// can evade it.
//
// # Errors
//
// spawn-reentrant if a variable is exactly "1". spawn-depth-exceeded if the depth is not a
// number, or has reached NUBOS_PILOT_MAX_HOOK_DEPTH, which is 1 if that is not a number.
func Guard(environ []string) error {
	for _, name := range []string{headless, nubosHeadless} {
		if Value(environ, name) == "1" {
			return errs.New(errs.SpawnReentrant, "this runs inside a spawned agent: %s is 1", name).With("variable", name)
		}
	}
	most, ok := number(Value(environ, maxDepth))
	if !ok || Value(environ, maxDepth) == "" {
		most = defaultMaxDepth
	}
	for _, name := range []string{depth, nubosDepth} {
		value := Value(environ, name)
		switch n, ok := number(value); {
		case !ok:
			return errs.New(errs.SpawnDepthExceeded, "%s is %q, which is not a depth", name, textutil.Clip(value, maxShown)).With("variable", name)
		case n >= most:
			return errs.New(errs.SpawnDepthExceeded, "this runs at depth %d, and spawns need less than %d", n, most).
				With("variable", name).With("depth", n).With("limit", most)
		}
	}
	return nil
}

// Inside returns an error within a spawned agent, which must not decide, or attest for another
// agent. On Linux it also checks the environments of our ancestors, which an agent cannot
// change. It does not find the ancestors of a process whose parent has ended.
//
// # Errors
//
// spawn-reentrant.
func Inside(environ []string) error {
	for _, env := range append([][]string{environ}, ancestors()...) {
		if Value(env, headless) == "1" {
			return errs.New(errs.SpawnReentrant, "this runs inside a spawned agent: %s is 1", headless).With("variable", headless)
		}
	}
	return nil
}

// Marks returns the variables that tell a child that it was spawned, its depth and its run.
// environ is our own environment.
func Marks(environ []string, run string) []string {
	ours, _ := number(Value(environ, depth))
	theirs, _ := number(Value(environ, nubosDepth))
	next := strconv.Itoa(max(ours, theirs) + 1)
	return []string{
		nubosHeadless + "=1", nubosDepth + "=" + next,
		depth + "=" + next, headless + "=1", runID + "=" + run,
	}
}

// number parses a depth; "" is 0.
func number(text string) (int, bool) {
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil
}

// maxShown bounds a foreign value in a message, in code points.
const maxShown = 32
