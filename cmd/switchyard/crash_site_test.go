package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// crashSite is a project for a crash test, in all the states that matter.
type crashSite struct {
	crash
	dir      string   // parent directory of the test's projects
	template *program // the project before the command; never changed
	// before, after and twice are the visible state before the command, after it, and
	// after it was repeated.
	before, after, twice []string
	sawBetween           bool          // a disturbed command had recorded only its first event
	span                 time.Duration // usual duration of the command
}

// newCrashSite sets up the project of c, and runs the command undisturbed to record its
// results.
func newCrashSite(t *testing.T, c crash) *crashSite {
	t.Helper()
	s := &crashSite{crash: c, dir: t.TempDir(), template: newProgram(t)}
	s.template.write(t, "clean.json", `{"critic":"critic","findings":[]}`)
	module, err := os.ReadFile(filepath.Join(repository, "plugins", "sdk", "examples", "c", "todo-scan.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	s.template.write(t, "todo-scan.wasm", string(module))
	for name, text := range c.files {
		s.template.write(t, name, text)
	}
	s.setUpLedger(t)
	if c.cold {
		if err := os.RemoveAll(filepath.Join(s.template.dir, "cache")); err != nil {
			t.Fatal(err)
		}
	}

	p := s.fresh(t)
	s.before = look(t, p, "before the command")
	began := time.Now()
	if code := s.run(t, p, c.command); code != "" {
		t.Fatalf("the undisturbed command fails with %s", code)
	}
	s.span = time.Since(began)
	s.after = look(t, p, "after the command")
	if code := s.run(t, p, c.command); code != c.again {
		t.Fatalf("the repeated command says %q, want %q", code, c.again)
	}
	s.twice = look(t, p, "after the repeated command")
	if c.again != "" && !slices.Equal(s.twice, s.after) {
		t.Fatalf("a refused command changed\n%s\nto\n%s", lines(s.after), lines(s.twice))
	}
	return s
}

// setUpLedger runs the commands of the set-up.
func (s *crashSite) setUpLedger(t *testing.T) {
	t.Helper()
	p := s.template
	for i, command := range s.setUp {
		if code := s.run(t, p, command); code != "" {
			t.Fatalf("%s fails with %s", command, code)
		}
		if i == 0 && s.logged { // An open connection keeps the others from removing the log.
			if _, err := openDatabase(t, ledgerOf(p)).ExecContext(t.Context(), "SELECT count(*) FROM events"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !s.logged {
		return
	}
	// A copy that no process has open is in the state that a crash leaves.
	s.template = s.fresh(t)
	if info, err := os.Stat(ledgerOf(s.template) + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("the set-up leaves no log: %v", err)
	}
}

func ledgerOf(p *program) string { return filepath.Join(p.dir, project.StateDir, "ledger.db") }

// fresh returns a new copy of the project before the command.
func (s *crashSite) fresh(t *testing.T) *program {
	t.Helper()
	dir, err := os.MkdirTemp(s.dir, "")
	if err == nil {
		err = copyTree(dir, s.template.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &program{dir: dir}
}

// copyTree copies a directory with its modes, which matter to the program.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return errors.Join(os.MkdirAll(target, 0o700), os.Chmod(target, info.Mode().Perm()))
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
}

// run runs a command line and returns the code of its error, or "".
func (s *crashSite) run(t *testing.T, p *program, command string) string {
	t.Helper()
	_, stderr, err := p.run(t.Context(), strings.Fields(command)...)
	code := codeOf(stderr)
	if (err == nil) != (code == "") {
		t.Fatalf("%s: %v: %s", command, err, stderr)
	}
	return code
}

// judge compares a project in which the command was disturbed with the states before
// and after the command, and repeats the command. when describes the disturbance;
// acknowledged says that the command had printed its result. judge removes the project.
func (s *crashSite) judge(t *testing.T, p *program, when string, acknowledged bool) {
	t.Helper()
	defer func() {
		if err := os.RemoveAll(p.dir); err != nil {
			t.Error(err)
		}
	}()
	got := look(t, p, when)
	if s.resumes {
		s.judgeSteps(t, p, got, when, acknowledged)
		return
	}
	before, after := s.begun(s.before), s.begun(s.after)
	seen := slices.Equal(tidy(got), s.after) || slices.Equal(s.begun(got), after) && !slices.Equal(before, after)
	between := !seen && s.isBetween(got)
	s.sawBetween = s.sawBetween || between
	if !seen && !between && !slices.Equal(s.begun(got), before) {
		t.Fatalf("%s, the project is neither as before nor as after the command:\n%s\nbefore:\n%s\nafter:\n%s",
			when, lines(got), lines(s.before), lines(s.after))
	}
	if acknowledged && !seen {
		t.Errorf("%s, the command has printed a result that is lost", when)
	}

	code := s.run(t, p, s.command)
	want, wantCode := s.after, ""
	switch {
	case seen:
		want, wantCode = s.twice, s.again
	case len(s.parts) > 0 && s.again != "" && code == s.again:
		want, wantCode = tidy(got), s.again // It does not resume.
	}
	if code != wantCode {
		t.Errorf("%s, having happened: %v: repeated, the command says %q, want %q", when, seen, code, wantCode)
	}
	now := look(t, p, when+" and repeated")
	if !slices.Equal(tidy(now), want) {
		t.Errorf("%s and repeated, the command leads to\n%s\nwant\n%s", when, lines(now), lines(want))
	}
}

// complains reports whether a command that succeeded or was killed has printed more on
// standard error than its agents' progress.
func (s *crashSite) complains(stderr []byte) bool {
	return len(stderr) > 0 && !s.resumes || bytes.Contains(stderr, []byte(`"error":`))
}

// judgeSteps checks that a command resumes where a killed one stopped: it makes the
// same decision once, and leaves no agent running.
func (s *crashSite) judgeSteps(t *testing.T, p *program, got []string, when string, acknowledged bool) {
	t.Helper()
	decided := len(decisions(got)) > len(decisions(s.before))
	if acknowledged && !decided {
		t.Errorf("%s, the command has printed a result that is lost", when)
	}
	code := s.run(t, p, s.command)
	if code != "" && (code != s.again || !decided) {
		t.Errorf("%s, having decided: %v: repeated, the command says %q", when, decided, code)
	}
	now := decisions(look(t, p, when+" and repeated"))
	after, twice := decisions(s.after), decisions(s.twice)
	// If the killed command had decided but not yet run the researchers, the repeated
	// one runs them; if it was done, the repeated one begins another round, if there is
	// one.
	if !slices.Equal(now, after) && !(decided && slices.Equal(now, twice)) {
		t.Errorf("%s and repeated, the decisions are\n%s\nwant\n%s", when, lines(now), lines(after))
	}
	state := lastState(t, p)
	if len(state.OpenRuns()) > 0 {
		t.Errorf("%s and repeated, runs are open still: %+v", when, state.OpenRuns())
	}
}

// decisions returns the decisions of a project's rounds, in order.
func decisions(seen []string) []string {
	var found []string
	parts := regexp.MustCompile(`"(next_action|reason|finding_count|round|next_round)":("[^"]*"|[0-9]+)`)
	for _, line := range seen {
		if text, isEvent := strings.CutPrefix(line, "event "); isEvent && strings.Contains(text, `"kind":"round-decided"`) {
			at := strings.Index(text, `"event":{`)
			found = append(found, strings.Join(parts.FindAllString(text[max(at, 0):], -1), " "))
		}
	}
	return found
}

// lastState returns the state of task T.
func lastState(t *testing.T, p *program) task.State {
	t.Helper()
	e := host.New(host.Options{Project: project.Project{Root: p.dir, Dir: p.dir}, Now: time.Now})
	defer func() { _ = e.Close(context.WithoutCancel(t.Context())) }()
	detail, err := e.Task(t.Context(), "T")
	if err != nil {
		t.Fatal(err)
	}
	return detail.State
}

// isBetween reports whether a project has the events after the command without the last
// one, and no other changes. It does not compare the task's state: look has folded the
// events and checked that they lead to it.
func (s *crashSite) isBetween(got []string) bool {
	events := func(seen []string) []string {
		return slices.DeleteFunc(s.begun(seen), func(line string) bool { return strings.HasPrefix(line, "task ") })
	}
	after := events(s.after)
	return s.between && slices.Equal(events(got), after[:len(after)-1])
}

// tidy omits the temporary files: a killed command may leave one behind, and they do no
// harm.
func tidy(seen []string) []string {
	return without(seen, ".switchyard/ledger.db.new-", ".switchyard/.switchyard.yaml.", ".switchyard/..gitignore.", ".switchyard/handoff/.", ".switchyard/.critic", ".switchyard/.researcher", ".switchyard/.executor.", ".switchyard/.build-fixer.", ".switchyard/.plan-checker.", ".switchyard.yaml.", ".switchyard/.STATE.md.", ".switchyard.lock.", ".b.tar.gz.")
}

// begun omits the files that may exist before the command has taken effect, or be out
// of date until it is repeated: its parts, the .gitignore of the state, a
// verification's output, the handoff, and STATE.md, which follows the ledger.
func (s *crashSite) begun(seen []string) []string {
	return without(tidy(seen), append([]string{".switchyard/.gitignore", ".switchyard/STATE.md", ".switchyard/handoff/", ".switchyard/verify/"}, s.parts...)...)
}

// without omits the files whose paths begin with one of these prefixes.
func without(seen []string, beginnings ...string) []string {
	return slices.DeleteFunc(slices.Clone(seen), func(line string) bool {
		path, isFile := strings.CutPrefix(line, "file ")
		return isFile && slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(path, b) })
	})
}

func lines(seen []string) string { return "\t" + strings.Join(seen, "\n\t") }

// look returns the visible state of a project: every file, every task and every event,
// one per line. It fails unless the ledger is valid; when describes the moment.
func look(t *testing.T, p *program, when string) []string {
	t.Helper()
	seen := files(t, p.dir)
	e := host.New(host.Options{Project: project.Project{Root: p.dir, Dir: p.dir}, Now: time.Now})
	defer func() { _ = e.Close(context.WithoutCancel(t.Context())) }()
	report, err := e.Verify(t.Context())
	if err != nil || !report.Sound() {
		t.Fatalf("%s, the ledger is not sound: %v %v", when, report.Problems, err)
	}
	tasks, err := e.Tasks(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	for _, one := range tasks {
		seen = append(seen, "task "+timeless(asJSON(t, one)))
	}
	for event, err := range e.Events(t.Context()) {
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		line := "event " + timeless(asJSON(t, event))
		// A verification that was killed and restarted has begun twice.
		if again := len(seen) > 0 && line == seen[len(seen)-1]; again && event.Kind == "draft-begun" {
			continue
		}
		seen = append(seen, line)
	}
	return seen
}

// files lists the files of a project with their modes and digests. It omits the ledger,
// whose content look reads, the cache and the leases.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var seen []string
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "cache", path == ".switchyard/run": // A lease's file is a lock, and stays.
			return fs.SkipDir
		case d.IsDir(), path == ".switchyard/ledger.db", path == ".switchyard/ledger.db-wal", path == ".switchyard/ledger.db-shm", path == ".switchyard/ledger.archive":
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(root, path)
		seen = append(seen, fmt.Sprintf("file %s %v %x", path, info.Mode(), sha256.Sum256([]byte(timeless(string(data))))))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// timeless removes everything that differs from run to run: times, durations, the
// hashes of the chain and of the states before its events, which depend on them, and
// the events' numbers, which look counts by its lines.
func timeless(text string) string {
	return regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|"[0-9a-f]{64}"|"before":"sha256:[0-9a-f]{64}"|"(duration_ms|us|policy_us|n|seq|event)":\d+`).ReplaceAllString(text, "...")
}
