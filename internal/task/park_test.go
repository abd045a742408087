package task_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// parkedBy returns a task whose executor has met a usage limit.
func parkedBy(t tester) task.State {
	return do(t, inBranch(t), spawning(agent("r1", task.RoleExecutor, true)), markUsed("r1", 3), task.ParkTask{Parking: parking})
}

func TestAParkedRunIsNoAttempt(t *testing.T) {
	s := parkedBy(t)
	if s.Status != task.Parked || s.Round != 1 || s.Attempts(task.RoleExecutor, 0) != 0 || s.LatestRun(task.RoleExecutor, 0) != nil {
		t.Errorf("%s in round %d, %d attempts", s.Status, s.Round, s.Attempts(task.RoleExecutor, 0))
	}
	if s.Spent.Task != all(3) || s.Spent.Runs != 1 {
		t.Errorf("what the run used is forgotten: %+v", s.Spent)
	}
	s = do(t, s, task.EndParking{By: "somebody"})
	if s.Status != task.Open || s.Round != 1 || s.Parked != nil || s.Attempts(task.RoleExecutor, 0) != 0 {
		t.Errorf("%s in round %d, parked %+v", s.Status, s.Round, s.Parked)
	}
	// Another run of the round stays.
	s = do(t, s, spawning(critic("c")), ended("c"), spawning(critic("d")), task.ParkTask{Parking: task.Parking{Until: noon, Run: "d"}}, lost("d"), task.EndParking{Now: noon})
	if got := s.Attempts(task.RoleCritic, 0); got != 1 || s.LatestRun(task.RoleCritic, 0).Run != "c" {
		t.Errorf("%d attempts", got)
	}
}

// TestEditsBeforeAParkingAreContinued until a decision has judged them.
func TestEditsBeforeAParkingAreContinued(t *testing.T) {
	limited := func(s task.State, run string) task.State {
		receipt := task.RecordReceipt{Receipt: task.Receipt{Run: run, Outcome: "failed", Class: "quota"}}
		return do(t, s, spawning(agent(run, task.RoleExecutor, true)), receipt, task.ParkTask{Parking: task.Parking{Until: noon, Run: run}}, task.EndParking{Now: noon})
	}
	crashed := do(t, inBranch(t), spawning(agent("r1", task.RoleExecutor, true)), ended("r1"))
	parked := limited(limited(crashed, "r2"), "r3")
	judged := decide(t, do(t, parked, spawning(agent("r4", task.RoleExecutor, true)), ended("r4")), toPlanChecker)
	for name, c := range map[string]struct {
		s    task.State
		want []string
	}{
		"parked twice":               {parked, []string{"r1", "r2", "r3"}},
		"judged":                     {judged, nil},
		"judged, then parked":        {limited(judged, "r5"), []string{"r5"}},
		"in the next round":          {decide(t, parked, toExecutor), nil},
		"resumed after another stop": {do(t, parked, task.StopTask{}, task.ResumeTask{Mode: task.MoreRounds, Rounds: 2}), nil},
	} {
		var got []string
		for _, r := range c.s.ContinuedRuns(task.RoleExecutor) {
			got = append(got, r.Run)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := parked.ContinuedRuns(task.RoleFixer); got != nil {
		t.Errorf("another role continues %v", got)
	}
}

func TestParkingEnds(t *testing.T) {
	s := parkedBy(t)
	nothing(t, s, task.EndParking{Now: "2029-12-31T23:59:59.999999999Z"})
	for by, c := range map[string]task.EndParking{"expiry": {Now: parking.Until}, "ann": {Now: morning, By: "ann"}} {
		e, err := task.Decide(s, c)
		if err != nil || e != (task.ParkingEnded{By: by}) {
			t.Errorf("%+v: %+v, %v", c, e, err)
		}
	}
	open := do(t, s, task.EndParking{By: "ann"})
	nothing(t, open, task.EndParking{Now: "2031-01-01T00:00:00.000000000Z"})
	refuse(t, open, task.EndParking{By: "ann"}, errs.TaskNotParked)
	if f := refuse(t, s, spawning(critic("c")), errs.TaskParked); f.Details["until"] != parking.Until {
		t.Errorf("%+v", f.Details)
	}
	if _, err := task.Apply(open, task.TaskParked{Round: 1}); err == nil {
		t.Error("a task is parked for ever")
	}
}

// TestNothingElseMovesAParkedTask tries every command: only a stop and a forced start end
// the parking, too.
func TestNothingElseMovesAParkedTask(t *testing.T) {
	s := parkedBy(t)
	for _, c := range everything() {
		if o, ok := c.(task.DecideRound); ok {
			o.Round = task.Round{Number: s.Round, MaxRounds: 3, HardCap: 6}
			c = o
		}
		e, err := task.Decide(s, c)
		if e == nil {
			continue
		}
		after, err2 := task.Apply(s, e)
		if err != nil || err2 != nil {
			t.Fatalf("%+v: %v, %v", c, err, err2)
		}
		switch c := c.(type) {
		case task.StopTask, task.EndParking:
			if after.Status == task.Parked {
				t.Errorf("%+v leaves it parked", c)
			}
		case task.StartWork:
			if c.Force == nil || after.Status != task.Open || after.Round != 2 {
				t.Errorf("%+v leads to %s in round %d", c, after.Status, after.Round)
			}
		case task.AttestAgent, task.RecordSearch, task.RecordReceipt:
			if after.Status != task.Parked {
				t.Errorf("%+v leads to %s", c, after.Status)
			}
		default:
			t.Errorf("%+v leads to %s", c, after.Status)
		}
		if err := after.Check(); err != nil {
			t.Error(err)
		}
	}
}
