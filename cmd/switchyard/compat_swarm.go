package main

// loopSwarm says how the researchers are to be started.
type loopSwarm struct {
	K int `json:"k"`
	// The thresholds are those of the reference's knowledge store, for scripts
	// that show them: there is no store here that could reach them.
	Threshold       float64    `json:"threshold"`
	MinOccurrence   int        `json:"min_occurrence"`
	MinConfidence   float64    `json:"min_confidence"`
	BypassThreshold float64    `json:"bypass_threshold"`
	Specs           []loopSpec `json:"spawn_specs"`
	loopMiss
}

// loopSpec is one researcher. All of them have the same input, and differ in
// method alone: researchers of different topics could never agree.
type loopSpec struct {
	Index     int       `json:"index"`
	SeedDelta int       `json:"seed_delta"`
	SeedNudge string    `json:"seed_nudge"`
	Input     loopInput `json:"input"`
}

// loopInput is what a researcher works on.
type loopInput struct {
	Query  string `json:"task_query"`
	TaskID string `json:"task_id"`
}

func newLoopSwarm(k int, query, id string, miss loopMiss) loopSwarm {
	nudges := loopNudges()
	swarm := loopSwarm{K: k, Threshold: 0.2, MinOccurrence: 1, MinConfidence: 0.3, BypassThreshold: 0.5, loopMiss: miss}
	for i := range k {
		swarm.Specs = append(swarm.Specs, loopSpec{
			Index: i, SeedDelta: i, SeedNudge: nudges[i%len(nudges)], Input: loopInput{Query: query, TaskID: id},
		})
	}
	return swarm
}

// loopNudges are ways to work.
func loopNudges() []string {
	return []string{
		"Write nothing down from memory: a claim counts once you have read a source that makes it.",
		"Collect every way in which it could be done before you prefer one.",
		"Take the answer that everybody would give, and look for where it breaks.",
		"Hand in whatever you cannot check as an open question, and not as a fact.",
		"Say which way is ahead, and how it would most likely fail.",
	}
}
