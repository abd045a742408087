package task_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func TestCheckID(t *testing.T) {
	for _, id := range []string{"M001-S001-T0001", "a", "0", "a.b_c-d", strings.Repeat("x", 128)} {
		if err := task.CheckID(id); err != nil {
			t.Errorf("%q refused: %v", id, err)
		}
	}
	for _, id := range []string{"", ".", "-a", "_a", "a/b", "a b", "a\n", "ä", "../x", strings.Repeat("x", 129)} {
		if err := task.CheckID(id); errs.CodeOf(err) != errs.TaskInvalidID {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestCheckAcceptsEveryStatus(t *testing.T) {
	for status, s := range standing(t) {
		if err := s.Check(); (err == nil) != (status != task.NoTask) {
			t.Errorf("%q: %v", status, err)
		}
	}
}

func TestCheckRefusesEditedStates(t *testing.T) {
	states := standing(t)
	for name, c := range map[string]struct {
		from task.Status
		edit func(*task.State)
	}{
		"unknown status":              {task.Open, func(s *task.State) { s.Status = "fine" }},
		"no status":                   {task.Open, func(s *task.State) { s.Status = task.NoTask }},
		"round 0":                     {task.Open, func(s *task.State) { s.Round = 0 }},
		"began in a later round":      {task.Open, func(s *task.State) { s.StartedRound = 2 }},
		"began in round 0":            {task.Open, func(s *task.State) { s.StartedRound = 0 }},
		"cap out of range":            {task.Open, func(s *task.State) { s.MaxRounds = 101 }},
		"cap below zero":              {task.Open, func(s *task.State) { s.MaxRounds = -1 }},
		"hard cap below the cap":      {task.Open, func(s *task.State) { s.HardCap = 2 }},
		"hard cap out of range":       {task.Open, func(s *task.State) { s.HardCap = 101 }},
		"decided without a cap":       {task.Stuck, func(s *task.State) { s.MaxRounds = 0 }},
		"decided in a later round":    {task.Waiting, func(s *task.State) { s.Round = 1 }},
		"stuck and open":              {task.Stuck, func(s *task.State) { s.Status = task.Open }},
		"stuck for no reason":         {task.Stuck, func(s *task.State) { s.Stop = nil }},
		"open with a reason":          {task.Open, func(s *task.State) { s.Stop = &task.Stop{Round: 1} }},
		"stuck, reopened":             {task.Stuck, func(s *task.State) { s.Status, s.Stop = task.Open, nil }},
		"waiting for nothing":         {task.Waiting, func(s *task.State) { s.Questions = nil }},
		"waiting after no decision":   {task.Waiting, func(s *task.State) { s.Last = nil }},
		"committed, reopened":         {task.Committed, func(s *task.State) { s.Status = task.Open }},
		"committed after no decision": {task.Committed, func(s *task.State) { s.Last = nil }},
		"committed out of the blue":   {task.Open, func(s *task.State) { s.Status = task.Committed }},
		"a run without an id":         {task.Open, func(s *task.State) { s.Runs = []task.Run{{Intent: task.Intent{Round: 1}}} }},
		"a run twice":                 {task.Open, func(s *task.State) { s.Runs = []task.Run{running("a", 1), running("a", 1)} }},
		"a run of a later round":      {task.Open, func(s *task.State) { s.Runs = []task.Run{running("a", 2)} }},
		"a run of round 0":            {task.Open, func(s *task.State) { s.Runs = []task.Run{running("a", 0)} }},
		"an ended run of old":         {task.Waiting, func(s *task.State) { s.Runs = []task.Run{closed("a", 1, task.Receipt{Run: "a"})} }},
		"another's receipt":           {task.Open, func(s *task.State) { s.Runs = []task.Run{closed("a", 1, task.Receipt{Run: "b"})} }},
		"an unknown that is none": {task.Open, func(s *task.State) {
			s.Runs = []task.Run{closed("a", 1, task.Receipt{Run: "a", Unknown: []string{"ms"}})}
		}},
		"a run that gave back": {task.Open, func(s *task.State) {
			s.Runs = []task.Run{closed("a", 1, task.Receipt{Run: "a", Used: task.Amount{Millis: -1}})}
		}},
		"a reserve below zero": {task.Open, func(s *task.State) {
			s.Runs = []task.Run{running("a", 1)}
			s.Runs[0].Reserve.Tokens = -1
		}},
		"too many runs":            {task.Open, func(s *task.State) { s.Runs = make([]task.Run, 257) }},
		"spent below zero":         {task.Open, func(s *task.State) { s.Spent.Task.MicroDollars = -1 }},
		"a round that earned":      {task.Open, func(s *task.State) { s.Spent.Round.Millis = -1 }},
		"fewer than no runs":       {task.Open, func(s *task.State) { s.Spent.Runs = -1 }},
		"spent, without a status":  {task.Open, func(s *task.State) { s.Status, s.Spent.Runs = task.NoTask, 1 }},
		"parked for no reason":     {task.Parked, func(s *task.State) { s.Parked = nil }},
		"parked and open":          {task.Open, func(s *task.State) { s.Parked = &parking }},
		"merging nothing":          {task.Merging, func(s *task.State) { s.Merge = nil }},
		"merging and merged":       {task.Merging, func(s *task.State) { s.Merge = &task.Merge{Outcome: task.Merged} }},
		"a merge without an end":   {task.Committed, func(s *task.State) { s.Merge = &task.Merge{Into: "main"} }},
		"a commit of no branch":    {task.Merging, func(s *task.State) { s.Branch = nil }},
		"a commit of another tree": {task.Merging, func(s *task.State) { s.Commit = &task.GitCommit{SHA: "c1", Tree: "t2"} }},
		"a bar that is none":       {task.Open, func(s *task.State) { s.Bar = "none" }},
		"a critic of no task":      {task.NoTask, func(s *task.State) { s.Runs = []task.Run{running("a", 1)} }},
	} {
		edited := states[c.from]
		c.edit(&edited)
		if err := edited.Check(); err == nil {
			t.Errorf("%s: accepted %+v", name, edited)
		}
	}
}

// running and closed return runs of a critic.
func running(id string, round int) task.Run {
	i := critic(id)
	i.Round = round
	return task.Run{Intent: i}
}

func closed(id string, round int, r task.Receipt) task.Run {
	run := running(id, round)
	run.Receipt = &r
	return run
}

func TestApplyRefusesImpossibleHistories(t *testing.T) {
	states := standing(t)
	decided := task.RoundDecided{Round: 1, NextRound: 2, MaxRounds: 3, NextAction: "executor", DestinationKind: "agent"}
	for name, c := range map[string]struct {
		from  task.Status
		event task.Event
	}{
		"round skipped":                   {task.Open, task.RoundDecided{Round: 2, NextRound: 3}},
		"round repeated":                  {task.Waiting, decided},
		"next round jumps":                {task.Open, task.RoundDecided{Round: 1, NextRound: 3, NextAction: "executor"}},
		"next round falls":                {task.Open, task.RoundDecided{Round: 1, NextRound: 0, NextAction: "executor"}},
		"decision without an action":      {task.Open, task.RoundDecided{Round: 1, NextRound: 2}},
		"first round is not 1":            {task.NoTask, task.RoundDecided{Round: 2, NextRound: 3}},
		"decision after stuck":            {task.Stuck, decided},
		"decision after commit":           {task.Committed, decided},
		"stamp of another round":          {task.Open, task.AgentAttested{Attestation: task.Attestation{Round: 2}}},
		"search of another round":         {task.Open, task.SearchRecorded{Search: task.Search{Round: 2}}},
		"phase of another round":          {task.Open, task.PhaseDone{Round: 2, Phase: task.Research}},
		"draft of another round":          {task.Open, task.DraftVerified{Round: 2}},
		"another draft of another round":  {task.Open, task.DraftBegun{Round: 2}},
		"another draft after commit":      {task.Committed, task.DraftBegun{Round: 1}},
		"commit of another round":         {task.Open, task.WorkCommitted{Round: 2}},
		"stop of another round":           {task.Open, task.WorkStopped{Stop: task.Stop{Round: 2}}},
		"start skips a round":             {task.Stuck, task.WorkStarted{Round: 3, MaxRounds: 3}},
		"start anew in the same round":    {task.Committed, task.WorkStarted{Round: 1, MaxRounds: 3}},
		"second start, not forced":        {task.Open, task.WorkStarted{Round: 1, MaxRounds: 3}},
		"start while waiting, not forced": {task.Waiting, task.WorkStarted{Round: 2, MaxRounds: 3}},
		"first start, forced":             {task.NoTask, task.WorkStarted{Round: 2, MaxRounds: 3, Force: force}},
		"answer to another round":         {task.Waiting, task.QuestionsAnswered{Round: 2, Answers: []task.Answer{{Fingerprint: "q1"}}}},
		"answer to no question":           {task.Waiting, task.QuestionsAnswered{Round: 1, Answers: []task.Answer{{Fingerprint: "q2"}}}},
		"two answers to one question":     {task.Waiting, task.QuestionsAnswered{Round: 1, Answers: []task.Answer{{Fingerprint: "q1"}, {Fingerprint: "q1"}}}},
		"resumed in the same round":       {task.Stuck, task.WorkResumed{Round: 1, MaxRounds: 3, Mode: task.Manual}},
		"resumed beyond the next round":   {task.Stuck, task.WorkResumed{Round: 3, MaxRounds: 3, Mode: task.Manual}},
		"resumed in no known way":         {task.Stuck, task.WorkResumed{Round: 2, MaxRounds: 3, Mode: "quietly"}},
		"imported in no round":            {task.NoTask, task.TaskImported{MaxRounds: 3}},
		"no run begins":                   {task.Open, task.SpawnBegun{}},
		"a run of another round begins":   {task.Open, beginning(running("a", 2))},
		"a run of round 0 begins":         {task.NoTask, beginning(running("a", 0))},
		"a run without an id begins":      {task.Open, beginning(running("", 1))},
		"a run begins twice":              {task.Open, beginning(running("a", 1), running("a", 1))},
		"a run ends that never began":     {task.Open, task.SpawnEnded{Receipt: task.Receipt{Run: "a"}}},
		"a run begins while waiting":      {task.Waiting, beginning(running("a", 2))},
		"a run begins while stuck":        {task.Stuck, beginning(running("a", 1))},
		"a run begins after the commit":   {task.Committed, beginning(running("a", 1))},
	} {
		if got, err := task.Apply(states[c.from], c.event); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}

// beginning returns the event that runs begin.
func beginning(runs ...task.Run) task.SpawnBegun {
	var e task.SpawnBegun
	for _, r := range runs {
		e.Intents = append(e.Intents, r.Intent)
	}
	return e
}

func TestApplyRefusesImpossibleRuns(t *testing.T) {
	s := do(t, task.State{}, begin, spawning(critic("a"), critic("b")), ended("b"))
	greedy := running("c", 1)
	greedy.Reserve.MicroDollars = -1
	for name, e := range map[string]task.Event{
		"an open run begins again":   beginning(running("a", 1)),
		"an ended run begins again":  beginning(running("b", 1)),
		"a reserve below zero":       beginning(greedy),
		"an ended run ends again":    task.SpawnEnded{Receipt: task.Receipt{Run: "b"}},
		"a run that gave back":       task.SpawnEnded{Receipt: task.Receipt{Run: "a", Used: task.Amount{Tokens: -1}}},
		"an unknown that is no part": task.SpawnEnded{Receipt: task.Receipt{Run: "a", Unknown: []string{"time"}}},
		"the same unknown once more": task.SpawnEnded{Receipt: task.Receipt{Run: "a", Unknown: []string{"tokens", "tokens"}}},
	} {
		if got, err := task.Apply(s, e); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}
