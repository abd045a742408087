package e2e

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// deaths tests rounds in which the agent or Switchyard is killed.
func (r *rig) deaths(t *testing.T) {
	r.needs(t, "claude")
	t.Run("crash", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("the agent is found in /proc")
		}
		then := critic()
		p := r.newProject(t, r.model.url("crash", func(q request) reply {
			if q.N == 1 {
				killAgent("/s/crash")
				return reply{stall: true}
			}
			return then(q)
		}), config("claude"))
		p.round(t, "T-1").goes(t, "commit").ran(t, "critic claude critic-error exit-signal", "critic claude clean")
	})
	t.Run("our own death", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("the agent is found in /proc")
		}
		reached := make(chan struct{}, 1)
		then := critic()
		p := r.newProject(t, r.model.url("death", func(q request) reply {
			if q.N == 1 {
				reached <- struct{}{}
				return reply{stall: true}
			}
			return then(q)
		}), config("claude"))
		cmd := p.command(t.Context(), "round", "T-1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, reached)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); !exited(err) {
			t.Fatal(err)
		}
		p.round(t, "T-1").goes(t, "commit")
	})
	t.Run("interrupt", func(t *testing.T) {
		reached := make(chan struct{}, 1)
		p := r.newProject(t, r.model.url("interrupt", func(request) reply {
			select {
			case reached <- struct{}{}:
			default:
			}
			return reply{stall: true}
		}), config("claude"))
		cmd := p.command(t.Context(), "round", "T-1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, reached)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || !exited(err) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// await fails if reached is not signalled in time.
func await(t *testing.T, reached <-chan struct{}) {
	t.Helper()
	select {
	case <-reached:
	case <-time.After(roundTime):
		t.Fatal("the model was not asked")
	}
}

// killAgent kills the agent with that base URL, as a crash would.
func killAgent(base string) {
	for _, pid := range running(func(environ string) bool {
		return strings.Contains(environ, base+"\x00") && strings.Contains(environ, "SWITCHYARD_HEADLESS=1")
	}) {
		if agent, err := os.FindProcess(pid); err == nil {
			agent.Kill() // It may have ended.
		}
	}
}
