//go:build unix

package supervise_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// file returns a new file with this text in the scene's directory, at offset 0.
func (s scene) file(name, text string) *os.File {
	s.Helper()
	f, err := os.Create(filepath.Join(s.dir, name))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(text); err != nil {
		s.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		s.Fatal(err)
	}
	return f
}

func TestInput(t *testing.T) {
	const size = 1 << 20 // far more than a pipe holds
	for name, c := range map[string]struct{ script, want string }{
		"is read":        {"cat | wc -c | tr -d ' '", fmt.Sprintln(size - 4)},
		"is never read":  {"echo done", "done\n"},
		"is closed":      {"exec <&-; echo done", "done\n"},
		"ends by itself": {"cat >/dev/null; cat; echo done", "done\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			spec := s.spec(c.script)
			spec.Input = s.file("prompt", strings.Repeat("x", size))
			if _, err := spec.Input.Seek(4, 0); err != nil { // What was read before is not read again.
				t.Fatal(err)
			}
			if r := s.run(spec); r.End != supervise.Exited || r.ExitCode != 0 {
				t.Errorf("got %+v", r)
			}
			if got := s.text(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestInputThatMayNeverEnd(t *testing.T) {
	s := newScene(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	spec := s.spec("cat")
	spec.Input = read
	if _, err := s.keeper.Run(t.Context(), spec); errs.CodeOf(err) != errs.ProcessStart {
		t.Errorf("got %v", err)
	}
}

func TestSeparateErrorFile(t *testing.T) {
	s := newScene(t)
	spec := s.spec("echo four; echo seven77 >&2")
	spec.Errors = s.file("errors", "")
	r := s.run(spec)
	if r.OutputBytes != 5 || r.ErrorBytes != 8 {
		t.Errorf("got %+v", r)
	}
	text, err := os.ReadFile(spec.Errors.Name())
	if err != nil || string(text) != "seven77\n" || s.text() != "four\n" {
		t.Errorf("got %q and %q, %v", s.text(), text, err)
	}
}

func TestOutputLimitIsForBothFiles(t *testing.T) {
	for limit, want := range map[int64]supervise.End{199: supervise.OutputLimit, 200: supervise.Exited} {
		s := newScene(t)
		spec := s.spec("printf %0100d 1; printf %0100d 1 >&2")
		spec.Errors, spec.OutputLimit = s.file("errors", ""), limit
		if r := s.run(spec); r.End != want {
			t.Errorf("under a limit of %d: %+v", limit, r)
		}
	}
}

// TestBabblerIsEndedNearItsLimit tests endless output of a child that ignores signals:
// its grace period must not fill the disk.
func TestBabblerIsEndedNearItsLimit(t *testing.T) {
	// On a busy machine the limit is noticed late. Until the end of its grace period, a child
	// would write several times as much.
	const limit, near = 8 << 20, 1 << 30
	for name, script := range map[string]string{
		"output": "trap '' TERM; exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"errors": "trap '' TERM; exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2",
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			spec := s.spec(script)
			spec.Errors, spec.OutputLimit, spec.Grace = s.file("errors", ""), limit, 3*time.Second
			r := s.run(spec)
			if size := r.OutputBytes + r.ErrorBytes; r.End != supervise.OutputLimit || r.Signal != "SIGKILL" || size <= limit || size > near {
				t.Errorf("got %+v", r)
			} else {
				t.Logf("it wrote %d KiB beyond its limit", (size-limit)>>10)
			}
		})
	}
}

func TestIdle(t *testing.T) {
	for name, script := range map[string]string{
		"from the start": "echo $$ >root; exec sleep 60",
		"after a while":  "echo $$ >root; echo begun; sleep 0.2; echo begun >&2; exec sleep 60",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			spec := s.spec(script)
			spec.Errors, spec.Idle = s.file("errors", ""), 2*time.Second
			if r := s.run(spec); r.End != supervise.Idle || r.Signal != "SIGTERM" || r.Duration < spec.Idle {
				t.Errorf("got %+v", r)
			}
			s.wantGone("root")
		})
	}
}

func TestHeartbeatKeepsAlive(t *testing.T) {
	for name, stream := range map[string]string{"output": "1", "errors": "2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			spec := s.spec("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo $i >&" + stream + "; sleep 0.2; done")
			spec.Errors, spec.Idle = s.file("errors", ""), 3*time.Second
			if r := s.run(spec); r.End != supervise.Exited || r.Duration < spec.Idle {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestWatch(t *testing.T) {
	const enough supervise.End = "enough"
	s := newScene(t)
	spec := s.spec("echo $$ >root; sleep 0.1; echo so far; exec sleep 60")
	looks := 0 // Not guarded: all calls come from one goroutine, and none after Run.
	spec.Watch = func() supervise.End {
		looks++
		if s.text() == "so far\n" {
			return enough
		}
		return ""
	}
	if r := s.run(spec); r.End != enough || r.Signal != "SIGTERM" || looks < 2 {
		t.Errorf("got %+v after %d looks", r, looks)
	}
	s.wantGone("root")
	before := looks
	time.Sleep(100 * time.Millisecond)
	if looks != before {
		t.Error("it was called after Run had returned")
	}
}

func TestStarted(t *testing.T) {
	s := newScene(t)
	spec := s.spec("echo $$ >root; until [ -e go ]; do sleep 0.01; done")
	var id supervise.Identity
	spec.Started = func(i supervise.Identity) error {
		id = i
		return os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600)
	}
	r := s.run(spec)
	if root := s.pid("root"); r.End != supervise.Exited || id.PID != root || r.PID != root {
		t.Errorf("process %d is %+v, and ended as %+v", root, id, r)
	}
}

func TestStartedFails(t *testing.T) {
	s := newScene(t)
	spec := s.spec("sleep 60 & echo $! >left; wait")
	full := errors.New("the disk is full")
	spec.Started = func(supervise.Identity) error {
		s.pid("left")
		return full
	}
	spec.Watch = func() supervise.End {
		t.Error("it was watched")
		return ""
	}
	if r, err := s.keeper.Run(t.Context(), spec); !errors.Is(err, full) || r != (supervise.Result{}) || errs.CodeOf(err) != "" {
		t.Errorf("got %+v, %v", r, err)
	}
	s.wantGone("left")
}

// TestEndDuringTheKill tests that a child that exits by itself during the kill is
// reported consistently.
func TestEndDuringTheKill(t *testing.T) {
	s := newScene(t)
	for i := range 24 {
		spec := s.spec("sleep 0.03; exit 7")
		spec.Timeout, spec.Grace = time.Duration(28+i/3)*time.Millisecond, 3*time.Second
		switch r := s.run(spec); {
		case r.End == supervise.Exited && r.ExitCode == 7 && r.Signal == "":
		case r.End == supervise.TimedOut && (r.ExitCode == 7 || r.Signal == "SIGTERM"):
		default:
			t.Errorf("got %+v", r)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	const many = 30
	failed := make(chan error, many)
	for i := range many {
		s := newScene(t)
		go func() {
			r, err := s.keeper.Run(t.Context(), s.spec(fmt.Sprintf("sleep 60 & exit %d", i)))
			if err == nil && (r.End != supervise.Exited || r.ExitCode != i) {
				err = fmt.Errorf("child %d ended as %+v", i, r)
			}
			failed <- err
		}()
	}
	for range many {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestIdentityAsJSON(t *testing.T) {
	id := supervise.Identity{PID: 42, Start: 18446744073709551615, Boot: "b", EnvMarker: "m", Folder: "/f"}
	if got, want := asJSON(t, id), `{"pid":42,"start":`+strconv.FormatUint(id.Start, 10)+`,"boot":"b","mark":"m","folder":"/f"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := asJSON(t, supervise.Identity{EnvMarker: "m"}), `{"mark":"m"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
