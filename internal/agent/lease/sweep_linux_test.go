package lease_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The moments at which a holder is killed.
const (
	atAnnounced = "announced" // its private directory is not there yet
	atMade      = "made"      // the directory is, and its process not yet
	atStarted   = "started"   // the process is, and is not recorded
	atRecorded  = "recorded"  // all is
)

// litter writes its number into a directory, and so does an orphan that nothing ties to
// it but its output. Neither ends when it is asked to.
const leftovers = `trap "" TERM; echo $$ >"$0/root"
(env -i PATH="$PATH" setsid sh -c 'trap "" TERM; echo $$ >"$0/orphan"; while :; do sleep 0.05; done' "$0" &)
until [ -s "$0/orphan" ]; do sleep 0.01; done
echo >"$0/ready"
while :; do sleep 0.05; done`

// runChild holds a slot and runs a child in it, as far as a moment: there it says so,
// and waits for somebody to kill it.
func runChild(dir, agent, what string) error {
	moment, base, _ := strings.Cut(what, ":")
	pause := func(at string) {
		if at == moment {
			fmt.Println("held")
			time.Sleep(time.Minute)
		}
	}
	temp := filepath.Join(base, "tmp")
	k, err := supervise.New()
	if err != nil {
		return err
	}
	pool, err := lease.Open(dir, temp, k)
	if err != nil {
		return err
	}
	held, err := pool.Take(context.Background(), agent, 1, 0)
	if err != nil {
		return err
	}
	private := filepath.Join(temp, "switchyard-1")
	announced := k.Reserve(private)
	if err := held.Record(lease.Record{Process: announced, Run: "r1", Began: "now"}); err != nil {
		return err
	}
	pause(atAnnounced)
	if err := os.Mkdir(private, 0o700); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(private, "out"))
	if err != nil {
		return err
	}
	pause(atMade)
	_, err = k.Run(context.Background(), supervise.Spec{
		Argv: []string{"sh", "-c", leftovers, base}, Output: out, OutputLimit: 1, Timeout: time.Minute, Reserved: announced,
		Started: func(id supervise.Identity) error {
			for {
				if _, err := os.Stat(filepath.Join(base, "ready")); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			pause(atStarted)
			err := held.Record(lease.Record{Process: id, Run: "r1", Began: "now"})
			pause(atRecorded)
			return err
		},
	})
	return errors.Join(err, errors.New("the child ended first"))
}

// The whole way: a program is killed at whatever moment, and the next one finds all
// that is left of it.
func TestOurOwnDeath(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	for _, moment := range []string{atAnnounced, atMade, atStarted, atRecorded} {
		t.Run(moment, func(t *testing.T) {
			s := newScene(t)
			k, err := supervise.New()
			if err != nil {
				t.Fatal(err)
			}
			pool, err := lease.Open(s.dir, s.temp, k)
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Dir(s.temp)
			s.holder("critic", 1, "child:"+moment+":"+base).kill(s)
			var left []string
			if moment == atStarted || moment == atRecorded {
				left = []string{"root", "orphan"}
			}
			for _, name := range left {
				if !s.runs(base, name) {
					t.Fatalf("the %s is gone too early", name)
				}
			}
			found, err := pool.Recover(t.Context())
			if err != nil || len(found) != 1 || found[0].Run != "r1" || (found[0].Process.PID != 0) != (moment == atRecorded) {
				t.Fatalf("got %+v, %v", found, err)
			}
			for _, name := range left {
				if s.runs(base, name) {
					t.Errorf("the %s is left", name)
				}
			}
			if left, err := os.ReadDir(s.temp); err != nil || len(left) != 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			if left := s.records(); left != nil {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// runs reports whether the process lives that wrote its number into a file.
func (s scene) runs(dir, file string) bool {
	s.Helper()
	pid, err := os.ReadFile(filepath.Join(dir, file))
	s.must(err)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%s/cmdline", strings.TrimSpace(string(pid))))
	return err == nil && len(line) > 0 // One that has ended and was not reaped has none.
}
