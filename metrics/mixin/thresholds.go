package mixin

import "time"

// Thresholds are what the alerts depend on. Default has those of the generated files.
type Thresholds struct {
	// Job is what the scrape of `metrics serve` and the pushes are called.
	Job string

	// FallbackDay is the share of spawns that fell back within a day, and
	// FallbackHour within an hour, above which there is an alert.
	FallbackDay, FallbackHour float64
	// SpawnsDay and SpawnsHour are how many spawns it takes for that.
	SpawnsDay, SpawnsHour int

	// CriticErrors is the share of a day's spawns that ended in critic-error, above
	// which there is an alert, if they are as many as CriticErrorsLeast.
	CriticErrors      float64
	CriticErrorsLeast int

	// Failures is the share of a day's rounds that came to no decision, above which
	// there is an alert, if they are as many as FailuresLeast.
	Failures      float64
	FailuresLeast int

	// Stuck and Waiting are how long a task may stand there.
	Stuck, Waiting time.Duration

	// Committed is the share of commits among the commits and stops of a week, below
	// which there is an alert, if both are as many as EndedLeast.
	Committed  float64
	EndedLeast int

	// Drift is by how much more than chance the routes may shift with a policy: the
	// total variation distance, from 0 to 1. DriftRounds is how many rounds each of
	// the two policies must have decided, and DriftFor for how long after its
	// adoption the alert speaks of it.
	Drift       float64
	DriftRounds int
	DriftFor    time.Duration

	// Budget is the part of a task's budget that may be used.
	Budget float64
	// DollarsDay is what the agents of a project may cost in a day.
	DollarsDay float64

	// For is how long a condition must hold before an alert of it fires.
	For time.Duration
}

// Default returns the thresholds of the generated files.
func Default() Thresholds {
	const day = 24 * time.Hour
	return Thresholds{
		Job:         "switchyard",
		FallbackDay: 0.2, SpawnsDay: 10,
		FallbackHour: 0.4, SpawnsHour: 5,
		CriticErrors: 0.1, CriticErrorsLeast: 3,
		Failures: 0.1, FailuresLeast: 3,
		Stuck: 2 * day, Waiting: day,
		Committed: 0.5, EndedLeast: 10,
		Drift: 0.15, DriftRounds: 50, DriftFor: 14 * day,
		Budget: 0.9, DollarsDay: 50,
		For: 15 * time.Minute,
	}
}
