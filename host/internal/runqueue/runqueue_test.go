package runqueue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/host/internal/runqueue"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// tasksOf returns the tasks of a text such as "a b:a c:a,b".
func tasksOf(text string, req api.RunRequest) []api.RunTask {
	var all []api.RunTask
	for _, word := range strings.Fields(text) {
		id, on, _ := strings.Cut(word, ":")
		t := api.RunTask{ID: id, RunRequest: req}
		if on != "" {
			t.DependsOn = strings.Split(on, ",")
		}
		all = append(all, t)
	}
	return all
}

// log records what a run did, one word each.
type log struct {
	mu    sync.Mutex
	words []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words = append(l.words, fmt.Sprintf(format, args...))
}

// runner returns a function that runs a task for a second and ends with the given action,
// or commits.
func (l *log) runner(actions map[string]string) func(context.Context, string, api.RunRequest) (api.RunResult, error) {
	return func(ctx context.Context, id string, req api.RunRequest) (api.RunResult, error) {
		l.add("+%s", id)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return api.RunResult{}, fmt.Errorf("run an agent: %w", context.Cause(ctx))
		}
		r := api.RunResult{TaskID: id, NextAction: "commit"}
		if req.Merge {
			r.Merge = &task.Merge{Outcome: task.Merged}
		}
		switch action := actions[id]; action {
		case "":
		case "unmerged":
			r.Merge = nil
		case "coded":
			return api.RunResult{Round: 2}, fmt.Errorf("round 2: %w", errs.New(errs.ProcessLost, "it is lost").With("pid", 7))
		case "broken":
			return api.RunResult{}, errors.New("broken")
		default:
			r.NextAction = action
		}
		return r, nil
	}
}

// ended records a result.
func (l *log) ended(r api.RunResult) {
	word := "-" + r.TaskID + "=" + r.NextAction
	if r.Reason != "" {
		word += "(" + r.Reason + ")"
	}
	if r.Error != nil {
		word += fmt.Sprintf("[%s %s]", r.Error.Code, r.Error.Message)
	}
	l.add("%s", word)
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, tasks string
		jobs        int
		req         api.RunRequest
		actions     map[string]string
		want        string
	}{
		{name: "order of the list", tasks: "c a b", jobs: 1, want: "+c -c=commit +a -a=commit +b -b=commit"},
		{name: "order of dependencies", tasks: "b:a a", jobs: 4, want: "+a -a=commit +b -b=commit"},
		{name: "none", tasks: "", jobs: 1, want: ""},
		{
			name: "a failure blocks what depends on it, not others", tasks: "b:a d:b a c", jobs: 1, actions: map[string]string{"a": "stuck"},
			want: "+a -a=stuck -b=blocked(a is not committed) -d=blocked(b is not committed) +c -c=commit",
		},
		{name: "a blocked task blocks earlier ones", tasks: "d:b b:a a", jobs: 1, actions: map[string]string{"a": "stuck"}, want: "+a -a=stuck -b=blocked(a is not committed) -d=blocked(b is not committed)"},
		{name: "parked", tasks: "a b:a", jobs: 2, actions: map[string]string{"a": "parked"}, want: "+a -a=parked -b=blocked(a is not committed)"},
		{name: "two dependencies", tasks: "a c:a,b b", jobs: 1, actions: map[string]string{"a": "askuser", "b": "stuck"}, want: "+a -a=askuser -c=blocked(a is not committed) +b -b=stuck"},
		{name: "merged", tasks: "a b:a", jobs: 1, req: api.RunRequest{Merge: true}, want: "+a -a=commit +b -b=commit"},
		{name: "not merged", tasks: "a b:a", jobs: 1, req: api.RunRequest{Merge: true}, actions: map[string]string{"a": "unmerged"}, want: "+a -a=commit -b=blocked(a is not merged)"},
		{
			name: "errors", tasks: "a b c", jobs: 1, actions: map[string]string{"a": "coded", "b": "broken"},
			want: "+a -a=failed[process-lost round 2: it is lost] +b -b=failed[internal broken] +c -c=commit",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l log
				runqueue.Run(t.Context(), tasksOf(c.tasks, c.req), c.jobs, l.runner(c.actions), l.ended)
				if got := strings.Join(l.words, " "); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		})
	}
}

// TestRunKeepsWhatIsKnown checks that the result of a failed run has the error's details.
func TestRunKeepsWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		runqueue.Run(t.Context(), tasksOf("a", api.RunRequest{}), 1, l.runner(map[string]string{"a": "coded"}), func(r api.RunResult) {
			if r.Round != 2 || r.Error.Details["pid"] != 7 {
				t.Errorf("got %+v, %+v", r, r.Error)
			}
		})
	})
}

// TestRunEndsInOrder checks that a cancelled run waits for the running tasks and starts no
// others.
func TestRunEndsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, context.Canceled)
		defer cancel()
		var l log
		runqueue.Run(ctx, tasksOf("a b:a c:b d", api.RunRequest{}), 1, l.runner(nil), l.ended)
		interrupted := "=failed[interrupted interrupted]"
		want := "+a -a=commit +b -b" + interrupted + " -c" + interrupted + " -d" + interrupted
		if got := strings.Join(l.words, " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestRunHoldsItsLimits checks any tasks: no more than jobs run at once, as many as can
// run do, and each ends once, after all that it depends on.
func TestRunHoldsItsLimits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(r, "tasks")
		jobs := rapid.IntRange(1, 5).Draw(r, "jobs")
		tasks := make([]api.RunTask, n)
		for i := range tasks {
			tasks[i].ID = fmt.Sprint(i)
			for _, on := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 3, rapid.ID).Draw(r, "depends") {
				if on < i {
					tasks[i].DependsOn = append(tasks[i].DependsOn, fmt.Sprint(on))
				}
			}
		}
		order := rapid.Permutation(tasks).Draw(r, "order")
		fails := rapid.IntRange(0, n).Draw(r, "fails")
		synctest.Test(t, func(*testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			ended := make(map[string]string)
			runqueue.Run(t.Context(), order, jobs, func(_ context.Context, id string, _ api.RunRequest) (api.RunResult, error) {
				mu.Lock()
				running++
				most = max(most, running)
				i := slices.IndexFunc(tasks, func(t api.RunTask) bool { return t.ID == id })
				for _, on := range tasks[i].DependsOn {
					if ended[on] != "commit" {
						r.Errorf("%s runs before %s is committed", id, on)
					}
				}
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				running--
				action := "commit"
				if i == fails {
					action = "stuck"
				}
				return api.RunResult{TaskID: id, NextAction: action}, nil
			}, func(res api.RunResult) {
				mu.Lock()
				defer mu.Unlock()
				if ended[res.TaskID] != "" {
					r.Errorf("%s ends twice", res.TaskID)
				}
				ended[res.TaskID] = res.NextAction
			})
			if len(ended) != n || most > jobs || most < 1 {
				r.Errorf("%d of %d tasks ended, %d at a time with %d jobs", len(ended), n, most, jobs)
			}
		})
	})
}
