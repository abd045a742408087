package childenv

import (
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The variables that tell a process that it was spawned, ours and those that hooks
// know from nubos-pilot.
const (
	headless      = "SWITCHYARD_HEADLESS"
	nubosHeadless = "NUBOS_PILOT_HEADLESS"
	depth         = "SWITCHYARD_DEPTH"
	nubosDepth    = "NUBOS_PILOT_HOOK_DEPTH"
	runID         = "SWITCHYARD_RUN_ID"
	nubosRunID    = "NUBOS_PILOT_RUN_ID"
	// maxDepth is how deep hooks may be nested; the user may set it.
	maxDepth        = "NUBOS_PILOT_MAX_HOOK_DEPTH"
	defaultMaxDepth = 1
)

// Guard refuses a spawn from within a spawned agent: an agent, or a hook of its CLI,
// that starts the command that started it never ends. It keeps from accidents. Who
// takes the marks out of the environment gets past it.
//
// # Errors
//
// spawn-reentrant where a mark says "1", and nothing but that. spawn-depth-exceeded where the depth
// has reached NUBOS_PILOT_MAX_HOOK_DEPTH (1 where that is no number from 0), or is
// itself no such number: then nobody knows how deep we are.
func Guard(environ []string) error {
	values := table(environ)
	for _, name := range []string{headless, nubosHeadless} {
		if values[fold(name)].value == "1" {
			return errs.New(errs.SpawnReentrant, "this runs inside a spawned agent: %s is 1", name).With("variable", name)
		}
	}
	most, ok := number(values[fold(maxDepth)].value)
	if !ok || values[fold(maxDepth)].value == "" {
		most = defaultMaxDepth
	}
	for _, name := range []string{depth, nubosDepth} {
		value := values[fold(name)].value
		switch n, ok := number(value); {
		case !ok:
			return errs.New(errs.SpawnDepthExceeded, "%s is %q, which is no depth", name, textutil.Clip(value, maxShown)).With("variable", name)
		case n >= most:
			return errs.New(errs.SpawnDepthExceeded, "this runs at depth %d, and spawns need less than %d", n, most).
				With("variable", name).With("depth", n).With("limit", most)
		}
	}
	return nil
}

// Inside refuses what is not for an agent to do that this program has spawned: to
// decide, or to vouch for another. On Linux it also looks at the processes above us,
// whose environments an agent that clears its own leaves as they are; one whose
// parent has ended is not found in this way.
//
// # Errors
//
// spawn-reentrant.
func Inside(environ []string) error {
	for _, env := range append([][]string{environ}, above()...) {
		if table(env)[fold(headless)].value == "1" {
			return errs.New(errs.SpawnReentrant, "this runs inside a spawned agent: %s is 1", headless).With("variable", headless)
		}
	}
	return nil
}

// Marks returns the variables that tell a child that it was spawned, how deep it is
// and by which run. environ is our own environment, not the child's.
func Marks(environ []string, run string) []string {
	values := table(environ)
	ours, _ := number(values[fold(depth)].value)
	theirs, _ := number(values[fold(nubosDepth)].value)
	next := strconv.Itoa(max(ours, theirs) + 1)
	return []string{
		nubosHeadless + "=1", nubosDepth + "=" + next, nubosRunID + "=" + run,
		depth + "=" + next, headless + "=1", runID + "=" + run,
	}
}

// number reads a depth. What is not set is 0.
func number(text string) (int, bool) {
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil
}

// maxShown is how much of a value that somebody made up a message shows, in code
// points.
const maxShown = 32
