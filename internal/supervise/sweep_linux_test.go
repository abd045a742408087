package supervise_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// doom runs a script under another supervisor, a copy of this program, kills the
// supervisor, and returns the Identity that it recorded of its child.
func (s scene) doom(script string) supervise.Identity {
	s.Helper()
	us := exec.Command(os.Args[0])
	us.Env = append(os.Environ(), dyingVar+"="+s.dir, scriptVar+"="+script+"; echo >ready; "+deaf)
	us.Stderr = os.Stderr
	if err := us.Start(); err != nil {
		s.Fatal(err)
	}
	var id supervise.Identity
	there := func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "ready"))
		return err == nil && s.stored("identity", &id) == nil
	}
	for !there() {
		time.Sleep(10 * time.Millisecond)
	}
	if err := us.Process.Kill(); err != nil {
		s.Fatal(err)
	}
	if err := us.Wait(); err == nil || id.PID == 0 {
		s.Fatalf("the keeper ended with %v, and wrote down %+v", err, id)
	}
	s.Cleanup(func() { _, _ = s.keeper.Sweep(context.Background(), id, 0) }) // in case the test fails
	return id
}

// stored reads an Identity from a file.
func (s scene) stored(name string, id *supervise.Identity) error {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, id)
}

// TestSweep tests that the Identity recorded before the child was started finds the
// same processes as the one recorded afterwards.
func TestSweep(t *testing.T) {
	for _, record := range []string{"announced", "identity"} {
		t.Run(record, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			marked := strings.Replace(astray(t, "marked", deaf), "env -i", "exec 1>&-; env", 1)
			// In the session of the marked process, with a cleared environment, and
			// soon an orphan.
			mate := strings.Replace(astray(t, "leader", `exec 1>&-; (env -i PATH="$PATH" sh -c "echo \$\$ >mate; `+
				strings.ReplaceAll(deaf, `"`, `\"`)+`" &); `+deaf), "env -i", "env", 1)
			// It has only the output that it inherited.
			holder := astray(t, "holder", deaf)
			s.doom("trap '' TERM; echo $$ >root; " + holder + marked + mate + "until [ -s mate ]; do sleep 0.01; done")
			var id supervise.Identity
			if err := s.stored(record, &id); err != nil {
				t.Fatal(err)
			}
			if root := s.pid("root"); id.Start == 0 || id.Boot == "" || id.EnvMarker == "" || id.Folder == "" || (id.PID == root) != (record == "identity") {
				t.Fatalf("process %d is %+v", root, id)
			}
			left := []string{"root", "marked", "leader", "mate", "holder"}
			for _, file := range left {
				if !lives(s.pid(file)) {
					t.Fatalf("%s is gone too early", file)
				}
			}
			swept, err := s.keeper.Sweep(t.Context(), id, 100*time.Millisecond)
			if err != nil || swept < len(left) {
				t.Errorf("got %d, %v", swept, err)
			}
			for _, file := range left {
				s.wantReaped(file)
			}
			if swept, err := s.keeper.Sweep(t.Context(), id, time.Second); swept != 0 || err != nil {
				t.Errorf("again: %d, %v", swept, err)
			}
		})
	}
}

func TestSweepIsCancelled(t *testing.T) {
	s := newScene(t)
	id := s.doom("trap '' TERM; echo $$ >root")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user had enough")
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	if _, err := s.keeper.Sweep(ctx, id, time.Minute); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, err := s.keeper.Sweep(t.Context(), id, 0); err != nil {
		t.Error(err)
	}
	s.wantReaped("root")
}

// TestSweepTouchesNoneElse tests a process that reuses the number of an ended one, and
// a wrong Identity.
func TestSweepTouchesNoneElse(t *testing.T) {
	s := newScene(t)
	var id supervise.Identity
	spec := s.spec("setsid sleep 60 & echo $$ >root; " + untilGo)
	started := make(chan struct{})
	spec.Started = func(i supervise.Identity) error {
		id = i
		close(started)
		return nil
	}
	ends := s.meanwhile(spec)
	<-started
	s.pid("root")
	const unknown = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	for name, c := range map[string]struct {
		change func(*supervise.Identity)
		code   errs.Code
	}{
		"the number was used again":   {func(i *supervise.Identity) { i.Start, i.EnvMarker = i.Start-1, unknown }, ""},
		"another start":               {func(i *supervise.Identity) { i.Start, i.EnvMarker = i.Start+1, unknown }, ""},
		"another number":              {func(i *supervise.Identity) { i.PID, i.EnvMarker = os.Getpid(), unknown }, ""},
		"the machine started anew":    {func(i *supervise.Identity) { i.Boot = "another" }, ""},
		"no start of the machine":     {func(i *supervise.Identity) { i.Boot = "" }, ""},
		"announced later":             {func(i *supervise.Identity) { i.PID, i.Start, i.EnvMarker = 0, i.Start+1, unknown }, ""},
		"announced, another mark":     {func(i *supervise.Identity) { i.PID, i.EnvMarker = 0, unknown }, ""},
		"the first process":           {func(i *supervise.Identity) { i.PID = 1 }, errs.ProcessLost},
		"a group":                     {func(i *supervise.Identity) { i.PID = -i.PID }, errs.ProcessLost},
		"no start":                    {func(i *supervise.Identity) { i.Start = 0 }, errs.ProcessLost},
		"no mark":                     {func(i *supervise.Identity) { i.EnvMarker = "" }, errs.ProcessLost},
		"a mark that everybody has":   {func(i *supervise.Identity) { i.EnvMarker = "PATH" }, errs.ProcessLost},
		"a mark with something added": {func(i *supervise.Identity) { i.EnvMarker += "=1\x00" }, errs.ProcessLost},
		"everybody's directory":       {func(i *supervise.Identity) { i.Folder = "/" }, errs.ProcessLost},
		"no certain directory":        {func(i *supervise.Identity) { i.Folder = "/tmp/x/.." }, errs.ProcessLost},
		"a directory of ours":         {func(i *supervise.Identity) { i.Folder = "tmp" }, errs.ProcessLost},
	} {
		t.Run(name, func(t *testing.T) {
			claim := id
			c.change(&claim)
			swept, err := s.keeper.Sweep(t.Context(), claim, 0)
			if swept != 0 || errs.CodeOf(err) != c.code || (err == nil) != (c.code == "") {
				t.Errorf("got %d, %v", swept, err)
			}
		})
	}
	s.letEnd(ends)
}

// TestSweepFromBelow tests that a process cannot sweep its own ancestors.
func TestSweepFromBelow(t *testing.T) {
	s := newScene(t)
	id := s.doom("trap '' TERM; echo $$ >root")
	t.Setenv("SWITCHYARD_CHILD_"+id.EnvMarker, "1")
	if swept, err := s.keeper.Sweep(t.Context(), id, 0); swept != 0 || errs.CodeOf(err) != errs.ProcessLost {
		t.Errorf("got %d, %v", swept, err)
	}
	if err := os.Unsetenv("SWITCHYARD_CHILD_" + id.EnvMarker); err != nil {
		t.Fatal(err)
	}
	if !lives(s.pid("root")) {
		t.Error("it was ended all the same")
	}
	// This also holds if a process in between has cleared the environment.
	between := exec.Command("sh", "-c", `env -i "$0=$1" "$2"; exit $?`, sweepingVar, filepath.Join(s.dir, "identity"), os.Args[0])
	between.Env = append(os.Environ(), "SWITCHYARD_CHILD_"+id.EnvMarker+"=1")
	if said, err := between.CombinedOutput(); err != nil || string(said) != string(errs.ProcessLost)+"\n" {
		t.Errorf("got %q, %v", said, err)
	}
	if !lives(s.pid("root")) {
		t.Error("it was ended from below")
	}
	if _, err := s.keeper.Sweep(t.Context(), id, 0); err != nil {
		t.Error(err)
	}
}
