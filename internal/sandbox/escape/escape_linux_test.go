// Package escape tries to get out of package sandbox. A test binary runs as a confined
// agent, makes every attempt of the table, and compares what came of it with the outcome
// that docs/confinement.md promises.
package escape

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/doccheck"
)

// outcome is what came of an attempt.
type outcome string

const (
	refused  outcome = "refused"
	noEffect outcome = "no effect" // The call succeeds and changes nothing.
	possible outcome = "possible"
	// unavailable is an attempt that this machine cannot make.
	unavailable outcome = "unavailable"
	// broken is an attempt that failed for a reason that is not a refusal.
	broken outcome = "broken"
)

// profile is what an agent may write.
type profile string

const (
	readonly profile = "readonly"
	report   profile = "report"
	edit     profile = "edit"
)

// levels are those at which something is refused.
var levels = []confinement.Level{confinement.Files, confinement.Ports, confinement.Network}

// profiles are the expected outcomes of an attempt at one level.
type profiles map[profile]outcome

// expected are the outcomes of an attempt at each level.
type expected map[confinement.Level]profiles

// attempt is one way out.
type attempt struct {
	does string
	try  func(w *world) error
	want expected
	// refusals are the errors that mean a refusal, besides those of every attempt, and absent
	// those that do at files+network, where other processes and networks are absent.
	refusals, absent []error
	// root says that only root can make the attempt, even unconfined.
	root bool
	// arrives says that the attempt is possible only if its mark reaches the host.
	arrives bool
}

type group struct {
	title    string
	attempts []attempt
}

func everyone(o outcome) profiles { return profiles{readonly: o, report: o, edit: o} }

// readers returns the outcomes of agents that only read, and of those that edit.
func readers(r, e outcome) profiles { return profiles{readonly: r, report: r, edit: e} }

func always(p profiles) expected { return from(p, p, p) }

// from returns the outcomes at files, files+ports and files+network.
func from(files, ports, network profiles) expected {
	return expected{confinement.Files: files, confinement.Ports: ports, confinement.Network: network}
}

// errNoEffect says that a call succeeded and changed nothing.
var errNoEffect = errors.New("no effect")

// unavailableError says why an attempt cannot be made on this machine.
type unavailableError string

func (e unavailableError) Error() string { return string(e) }

// reached returns nil if a call came as far as its own check of the arguments, which these
// errors say. Calls that would do harm get arguments that cannot succeed.
func reached(err error, checks ...error) error {
	if isOneOf(err, checks) {
		return nil
	}
	return err
}

func isOneOf(err error, list []error) bool {
	return slices.ContainsFunc(list, func(e error) bool { return errors.Is(err, e) })
}

// missing are the errors of a kernel that lacks something.
var missing = []error{unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT}

// classify returns the outcome that an attempt's error means.
func (a attempt) classify(err error, level confinement.Level) outcome {
	var reason unavailableError
	switch {
	case err == nil:
		return possible
	case errors.Is(err, errNoEffect):
		return noEffect
	case errors.As(err, &reason), isOneOf(err, missing), level == confinement.None && errors.Is(err, unix.ENOSYS):
		return unavailable
	case isOneOf(err, []error{unix.EPERM, unix.EACCES, unix.EXDEV, unix.EROFS, unix.ENOSYS}), isOneOf(err, a.refusals),
		level == confinement.Network && isOneOf(err, a.absent):
		return refused
	default:
		return broken
	}
}

func all() []attempt {
	var list []attempt
	for _, g := range groups() {
		list = append(list, g.attempts...)
	}
	return list
}

const (
	modeVar  = "ESCAPE_MODE"
	worldVar = "ESCAPE_WORLD"
	proxyVar = "ESCAPE_PROXY"
)

func init() {
	if os.Getenv(modeVar) != "" {
		runtime.LockOSThread() // Namespaces, credentials and tracees belong to a thread.
	}
}

// TestMain makes the test binary serve as the agent, as one of its attempts and as the
// process of the host that they attack.
func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeVar); mode {
	case "":
		os.Exit(m.Run())
	case "agent":
		runAgent()
	case "target":
		runTarget()
	default:
		n, err := strconv.Atoi(mode)
		if err != nil {
			panic(err)
		}
		runAttempt(n)
	}
}

// result is the line that an attempt prints.
type result struct {
	Outcome outcome
	Text    string
}

// runAgent makes all attempts, each in a process of its own, and prints their results.
func runAgent() {
	out := json.NewEncoder(os.Stdout)
	for n := range all() {
		if err := out.Encode(runChild(n)); err != nil {
			panic(err)
		}
	}
}

func runChild(n int) result {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), modeVar+"="+strconv.Itoa(n))
	cmd.Stdin = os.Stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState != nil && cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == unix.SIGSYS {
		return result{refused, "killed by SIGSYS"}
	}
	var r result
	if err := errors.Join(err, json.Unmarshal(out, &r)); err != nil {
		return result{broken, fmt.Sprintf("%v: %s%s", err, out, stderr.Bytes())}
	}
	return r
}

func runAttempt(n int) {
	a := all()[n]
	w := new(world)
	if err := json.Unmarshal([]byte(os.Getenv(worldVar)), w); err != nil {
		panic(err)
	}
	w.attempt = slug(n)
	w.Proxy = os.Getenv(proxyVar)
	err := a.try(w)
	r := result{Outcome: a.classify(err, w.Level)}
	if err != nil {
		r.Text = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		panic(err)
	}
}

func slug(n int) string { return fmt.Sprintf("a%03d", n) }

// TestUnconfined makes every attempt without confinement: only an attempt that can succeed
// shows anything when it is refused.
func TestUnconfined(t *testing.T) {
	results, _ := runCell(t, newHost(t), confinement.None, edit)
	for n, a := range all() {
		t.Run(a.does, func(t *testing.T) {
			switch r := results[n]; {
			case r.Outcome == possible:
			case a.root && os.Geteuid() != 0:
				t.Skipf("skipped: it needs root: %s", r.Text)
			case r.Outcome == unavailable:
				t.Skipf("skipped: %s", r.Text)
			default:
				t.Errorf("%s: %s", r.Outcome, r.Text)
			}
		})
	}
}

// TestConfined makes every attempt at each level.
func TestConfined(t *testing.T) {
	const versionFlag = 1 // LANDLOCK_CREATE_RULESET_VERSION
	if version, err := call(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, versionFlag); err != nil || version < 6 {
		t.Skipf("skipped: the table is for version 6 of Landlock, which refuses signals (Linux 6.12); this is %d, %v", version, err)
	}
	h := newHost(t)
	for _, level := range levels {
		for _, p := range []profile{readonly, report, edit} {
			t.Run(fmt.Sprintf("%s/%s", level, p), func(t *testing.T) {
				t.Parallel()
				results, changes := runCell(t, h, level, p)
				for n, a := range all() {
					r, want := results[n], a.want[level][p]
					switch {
					case r.Outcome == unavailable:
						t.Logf("not tried: %s: %s", a.does, r.Text)
					case want == possible && r.Outcome == refused && a.root && os.Geteuid() != 0:
					case r.Outcome != want:
						t.Errorf("%s: %s, want %s: %s", a.does, r.Outcome, want, r.Text)
					}
				}
				for _, c := range changes {
					t.Errorf("the agent changed %s", c)
				}
			})
		}
	}
}

// runCell runs an agent at a level, and returns the results of all attempts and the files
// that it changed although none of its attempts may.
func runCell(t *testing.T, h *host, level confinement.Level, p profile) (results []result, changes []string) {
	t.Helper()
	w := h.newWorld(t)
	w.Level = level
	// A process namespace counts from 1, so a thread of the agent's can have the id of a process
	// outside, of which the attempts are about.
	const most = 2000 // threads of an agent and its attempts
	if id := min(w.Target, w.Host); level == confinement.Network && id <= most {
		w.stop(t)
		t.Skipf("skipped: a process outside has the id %d, which one of the agent's could have too", id)
	}
	before := w.snapshot(t, level, p)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir = w.Tree
	cmd.Stdin = w.terminal
	out, stderr := new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, stderr
	cmd.Env = []string{modeVar + "=agent", "PATH=/usr/bin:/bin", "HOME=" + w.Home, "TMPDIR=" + w.Private}
	start(t, level, p, w, cmd)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	list := all()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		results = append(results, r)
	}
	if len(results) != len(list) {
		t.Fatalf("%d results of %d attempts: %s", len(results), len(list), stderr)
	}
	w.stop(t)
	for n, a := range list {
		if a.arrives && results[n].Outcome == possible && !h.hasArrived(w.Name+slug(n)) {
			results[n] = result{noEffect, "nothing arrived at the host"}
		}
	}
	return results, compare(before, w.snapshot(t, level, p))
}

// TestTable checks that the documentation shows the table.
func TestTable(t *testing.T) {
	if n := len(all()); n < 70 {
		t.Errorf("the table has only %d attempts", n)
	}
	var b strings.Builder
	for _, g := range groups() {
		fmt.Fprintf(&b, "\n### %s\n\n| attempt | `files` | `files+ports` | `files+network` |\n|---|---|---|---|\n", g.title)
		for _, a := range g.attempts {
			fmt.Fprintf(&b, "| %s |", a.does)
			for _, l := range levels {
				fmt.Fprintf(&b, " %s |", a.want[l])
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	doccheck.Table(t, "../../../docs", "confinement.md", "escapes", b.String())
}

func (p profiles) String() string {
	text := string(p[readonly])
	for _, other := range []profile{report, edit} {
		if p[other] != p[readonly] {
			text += fmt.Sprintf("; %s: %s", other, p[other])
		}
	}
	return text
}
