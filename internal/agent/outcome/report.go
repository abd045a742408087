package outcome

import "time"

// MaxReport is the size of the largest report that is read, in bytes. It is
// what the host takes for a report (docs/adr/0005-reports.md).
const MaxReport = 32 << 20

// Summary is what a report holds, counted.
type Summary struct {
	// Findings is the number of explicit findings, of any severity.
	Findings int
	// Unsatisfied is the number of criteria that are not satisfied. Those that
	// lack information are among them.
	Unsatisfied int
	// Blockers is the number that an envelope must repeat: findings of severity
	// fail, and unsatisfied criteria but for those that lack information.
	Blockers int
	// Passed says that there are neither findings nor unsatisfied criteria.
	Passed bool
}

// CheckReport holds the bytes of a report file, which was last modified at that
// time, against what was asked for, and against the envelope that announced it,
// nil if there is none. Only what binds the report is judged: whether its findings
// are well formed is the np-critic plugin's to say.
//
// That the file is there, regular and no link is for whoever opens it to see. Up
// to MaxReport+1 bytes of it are enough.
//
// A summary is only of use with FileOK.
func CheckReport(data []byte, modified time.Time, e Expect, env *EnvelopeBody) (File, Summary) {
	switch {
	case !fresh(modified, e.Began):
		return FileStale, Summary{}
	case len(data) > MaxReport:
		return FileTooLarge, Summary{}
	}
	return readReport(data, e, env)
}

// The clocks that files are stamped with are coarser than the one that tells
// when the agent began: the kernel's own goes on with its timer, at worst every
// 10 ms, and some file systems keep whole seconds, FAT every other one.
const (
	tick        = 10 * time.Millisecond
	coarseStamp = 2 * time.Second
)

// fresh reports whether a file of that time can have been written since began.
// The leniency for coarse file systems is for stamps in whole seconds only.
func fresh(modified, began time.Time) bool {
	began = began.Round(0) // Files know no monotonic clock.
	slack := tick
	if modified.Nanosecond() == 0 {
		slack = coarseStamp
	}
	return modified.After(began.Add(-slack))
}
