//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// scene is a directory with what a process may read, write, and not reach.
type scene struct {
	*testing.T
	dir, readable, writable, secret string
	spec                            sandbox.Spec
}

func newScene(t *testing.T, level confinement.Level) scene {
	t.Helper()
	s := scene{T: t, dir: t.TempDir()}
	for name, path := range map[string]*string{"readable": &s.readable, "writable": &s.writable, "secret": &s.secret} {
		*path = filepath.Join(s.dir, name)
		if err := os.Mkdir(*path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*path, "file"), []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.spec = sandbox.Spec{
		Want: confinement.Want{Level: level, Required: true}, Read: []string{s.readable}, Write: []string{s.writable},
		Listen:   func(l net.Listener, _ uint16) { t.Cleanup(func() { l.Close() }) },
		ProxyEnv: func(addr string) []string { return []string{"HTTPS_PROXY=http://" + addr} },
	}
	return s
}

// run runs a shell script in the scene, and returns what it printed and its exit code.
func (s scene) run(script string) (string, int) {
	s.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = s.writable
	var out bytes.Buffer
	f, err := os.Create(filepath.Join(s.dir, "output"))
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	c, err := sandbox.Start(cmd, s.spec)
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	_ = cmd.Wait()
	if c.Level != s.spec.Want.Level {
		s.Errorf("reached %s, want %s", c.Level, s.spec.Want.Level)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		s.Fatal(err)
	}
	out.Write(text)
	return out.String(), cmd.ProcessState.ExitCode()
}

func TestAProcessReachesOnlyItsFiles(t *testing.T) {
	for _, level := range confinement.Levels()[1:] {
		t.Run(string(level), func(t *testing.T) {
			s := newScene(t, level)
			out, code := s.run(`cat ../readable/file; echo x >new && cat new; cat ../secret/file; echo y >../readable/new; echo $HTTPS_PROXY; exit 7`)
			if code != 7 || !strings.HasPrefix(out, "readable\nx\n") || strings.Contains(out, "secret\n") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			if _, err := os.Stat(filepath.Join(s.readable, "new")); err == nil {
				t.Error("it wrote to a directory that it may only read")
			}
			if got := strings.Contains(out, "http://127.0.0.1:"); got != (level != confinement.Files) {
				t.Errorf("its environment names a proxy: %v\n%s", got, out)
			}
		})
	}
}

// TestLinksInPathsAreIgnored checks that a directory of a path that was replaced by a link
// does not give access to what the link leads to.
func TestLinksInPathsAreIgnored(t *testing.T) {
	for _, level := range confinement.Levels()[1:] {
		t.Run(string(level), func(t *testing.T) {
			s := newScene(t, level)
			link := filepath.Join(s.dir, "link")
			if err := os.Symlink(s.secret, link); err != nil {
				t.Fatal(err)
			}
			s.spec.Read = append(s.spec.Read, link, filepath.Join(link, "file"))
			s.spec.Write = append(s.spec.Write, link, filepath.Join(link, "file"))
			out, _ := s.run(`cat ../secret/file; echo changed >../secret/file; chmod 644 ../secret/file`)
			file := filepath.Join(s.secret, "file")
			if text, err := os.ReadFile(file); err != nil || string(text) != "secret\n" || strings.Contains(out, "secret\n") {
				t.Errorf("the file is %q, %v:\n%s", text, err, out)
			}
			// The levels below do not restrict changes of metadata.
			if info, err := os.Stat(file); err != nil || level == confinement.Network && info.Mode().Perm() != 0o600 {
				t.Errorf("the mode of the file is %s, %v:\n%s", info.Mode(), err, out)
			}
		})
	}
}

// TestSignalsDoNotPreventAStart sends signals to all threads while processes start, as Go's
// scheduler does.
func TestSignalsDoNotPreventAStart(t *testing.T) {
	var done atomic.Bool
	var sent sync.WaitGroup
	sent.Go(func() {
		for !done.Load() {
			threads, _ := os.ReadDir("/proc/self/task")
			for _, thread := range threads {
				if id, err := strconv.Atoi(thread.Name()); err == nil {
					_ = unix.Tgkill(os.Getpid(), id, unix.SIGURG) // The thread may have ended.
				}
			}
		}
	})
	defer sent.Wait()
	defer done.Store(true)
	for _, level := range confinement.Levels()[1:] {
		s := newScene(t, level)
		for range 5 {
			if _, code := s.run("exit 7"); code != 7 {
				t.Errorf("%s: exit code %d", level, code)
			}
		}
	}
}

func TestSignalsAreNotIgnored(t *testing.T) {
	// What this program's caller ignores, as nohup does with SIGHUP, stays ignored.
	var names []string
	for name, s := range map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP} {
		if !signal.Ignored(s) {
			names = append(names, name)
		}
	}
	for _, level := range confinement.Levels()[1:] {
		t.Run(string(level), func(t *testing.T) {
			out, code := newScene(t, level).run(`for s in ` + strings.Join(names, " ") + `; do sh -c "kill -$s \$\$; echo $s ignored"; done; exit 7`)
			if strings.Contains(out, "ignored") || code != 7 {
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

// TestAProcessEndsWithItsProgram kills the program that started a process. The process has
// its standard output, which ends when both have ended.
func TestAProcessEndsWithItsProgram(t *testing.T) {
	const levelVar = "SANDBOX_TEST_LEVEL"
	if level := os.Getenv(levelVar); level != "" {
		runtime.LockOSThread()
		s := newScene(t, confinement.Level(level))
		cmd := exec.Command("/bin/sh", "-c", "echo started; exec sleep 60")
		cmd.Stdout = os.Stdout
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
		if _, err := sandbox.Start(cmd, s.spec); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return
	}
	for _, level := range confinement.Levels()[1:] {
		t.Run(string(level), func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command("/proc/self/exe", "-test.run=TestAProcessEndsWithItsProgram")
			// The program is killed, so that it does not remove its own temporary directory.
			cmd.Env = append(os.Environ(), levelVar+"="+string(level), "TMPDIR="+t.TempDir())
			cmd.Stdout = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			if _, err := r.Read(make([]byte, 8)); err != nil {
				t.Error(err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = r.SetReadDeadline(time.Now().Add(30 * time.Second))
			if rest, err := io.ReadAll(r); err != nil {
				t.Errorf("it still runs: %q, %v", rest, err)
			}
		})
	}
}

// TestPortsAreForwarded forwards two ports at both addresses of the loopback interface. Only
// root can listen on one of the ports.
func TestPortsAreForwarded(t *testing.T) {
	probe, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("skipped: there is no IPv6: %v", err)
	}
	probe.Close()
	s := newScene(t, confinement.Network)
	s.spec.Forward = []uint16{443, 3128}
	var got []string
	s.spec.Listen = func(l net.Listener, forward uint16) {
		got = append(got, fmt.Sprintf("%s for %d", l.Addr(), forward))
		l.Close()
	}
	if out, code := s.run("exit 7"); code != 7 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	want := []string{"127.0.0.1:3129 for 0", "127.0.0.1:443 for 443", "[::1]:443 for 443", "127.0.0.1:3128 for 3128", "[::1]:3128 for 3128"}
	if !slices.Equal(got, want) {
		t.Errorf("listens at %q, want %q", got, want)
	}
}

// TestNamespacesWithoutRoot runs tests of the level files+network as another user.
func TestNamespacesWithoutRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: the other tests run without root")
	}
	const user = 65534
	dir, err := os.MkdirTemp("", "sandbox") // t.TempDir is below a directory of root.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run=TestAProcessReachesOnlyItsFiles/files.network|TestPortsAreForwarded")
	cmd.Dir = dir
	cmd.Env = []string{"TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "namespaces are not allowed") {
		t.Skipf("skipped: %s", out)
	}
	passes := func(test string) bool { return strings.Contains(string(out), "--- PASS: "+test) }
	if err != nil || !passes("TestAProcessReachesOnlyItsFiles/files+network") || !passes("TestPortsAreForwarded") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFallsBackWithoutNamespaces starts a process from one that is confined, and so may not
// make namespaces.
func TestFallsBackWithoutNamespaces(t *testing.T) {
	if os.Getenv("SANDBOX_TEST_INNER") != "" {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		c, err := sandbox.Start(cmd, sandbox.Spec{
			Want:     confinement.Best(),
			Listen:   func(l net.Listener, _ uint16) { t.Cleanup(func() { l.Close() }) },
			ProxyEnv: func(string) []string { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := cmd.Wait(); err != nil || c.Level != confinement.Ports {
			t.Errorf("reached %s, %v", c.Level, err)
		}
		return
	}
	s := newScene(t, confinement.Files)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.spec.Read = append(s.spec.Read, program)
	if out, code := s.run("SANDBOX_TEST_INNER=1 " + program + " -test.run=TestFallsBackWithoutNamespaces"); code != 0 {
		t.Error(out)
	}
}

// TestAnUnavailableLevelIsKnownAsSuch lets the helper fail while it sets up its namespaces.
// Another process, with other paths, can reach the level nevertheless.
func TestAnUnavailableLevelIsKnownAsSuch(t *testing.T) {
	s := newScene(t, confinement.Network)
	s.spec.Write = append(s.spec.Write, "/"+strings.Repeat("x", 256))
	_, err := sandbox.Start(exec.Command("/bin/true"), s.spec)
	if errs.CodeOf(err) != errs.ConfineUnavailable || !strings.Contains(err.Error(), "file name too long") {
		t.Errorf("got %v", err)
	}
	s.spec.Write = s.spec.Write[:1]
	if out, code := s.run("exit 7"); code != 7 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// TestTheSignalOfAProcess tests that Signal returns the signal that ended the process, also
// if the helper is its parent.
func TestTheSignalOfAProcess(t *testing.T) {
	for _, level := range confinement.Levels()[1:] {
		for script, want := range map[string]syscall.Signal{"kill -SEGV $$": syscall.SIGSEGV, "exit 139": 0} {
			s := newScene(t, level)
			cmd := exec.Command("/bin/sh", "-c", script)
			c, err := sandbox.Start(cmd, s.spec)
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			got := c.Signal()
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
				got = status.Signal()
			}
			if got != want {
				t.Errorf("%s: %q ends with signal %d, want %d", level, script, got, want)
			}
			c.Close()
		}
	}
}

func TestAProgramThatCannotBeRun(t *testing.T) {
	for _, level := range confinement.Levels()[1:] {
		s := newScene(t, level)
		path := filepath.Join(s.readable, "program")
		if err := os.WriteFile(path, []byte("no program"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := sandbox.Start(exec.Command(path), s.spec)
		if err == nil || errs.CodeOf(err) != "" || !strings.Contains(err.Error(), "exec format error") {
			t.Errorf("%s: %v", level, err)
		}
	}
}

// nestedVariable makes TestWithoutNamespaces start processes instead of itself.
const nestedVariable = "SWITCHYARD_TEST_NESTED"

// TestWithoutNamespaces runs in a sandbox of ours, where namespaces are not allowed. There a
// required level is an error before anything runs, and the best one is that below.
func TestWithoutNamespaces(t *testing.T) {
	if os.Getenv(nestedVariable) == "" {
		s := newScene(t, confinement.Files)
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		s.spec.Read = append(s.spec.Read, program)
		if out, code := s.run(nestedVariable + "=1 " + program + " -test.run=^TestWithoutNamespaces$ -test.v"); code != 0 || !strings.Contains(out, "--- PASS") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
		return
	}
	spec := sandbox.Spec{
		Want:   confinement.Want{Level: confinement.Network, Required: true},
		Listen: func(l net.Listener, _ uint16) { l.Close() }, ProxyEnv: func(string) []string { return nil },
	}
	cmd := exec.Command("/bin/true")
	if _, err := sandbox.Start(cmd, spec); errs.CodeOf(err) != errs.ConfineUnavailable || cmd.Process != nil {
		t.Errorf("required: %v, process %v", err, cmd.Process)
	}
	spec.Want.Required = false
	cmd = exec.Command("/bin/true")
	c, err := sandbox.Start(cmd, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || c.Level != confinement.Ports {
		t.Errorf("best: %s, %v", c.Level, err)
	}
	c.Close()
}

// TestAProcessThatCannotBeConfinedIsNotStarted names a path that no rule can be made for.
func TestAProcessThatCannotBeConfinedIsNotStarted(t *testing.T) {
	for _, level := range confinement.Levels()[1:] {
		s := newScene(t, level)
		s.spec.Read = append(s.spec.Read, "/a\x00b")
		s.spec.Want.Required = false
		cmd := exec.Command("/bin/sh", "-c", "echo it runs >ran")
		cmd.Dir = s.writable
		if _, err := sandbox.Start(cmd, s.spec); errs.CodeOf(err) != errs.ConfineFailed {
			t.Errorf("%s: %v", level, err)
		}
		if _, err := os.Stat(filepath.Join(s.writable, "ran")); err == nil {
			t.Errorf("%s: it was started", level)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	for _, level := range confinement.Levels() {
		b.Run(string(level), func(b *testing.B) {
			spec := sandbox.Spec{
				Want: confinement.Want{Level: level, Required: true}, Write: []string{b.TempDir()},
				Listen:   func(l net.Listener, _ uint16) { l.Close() },
				ProxyEnv: func(string) []string { return nil },
			}
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				c, err := sandbox.Start(cmd, spec)
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
				c.Close()
			}
		})
	}
}
