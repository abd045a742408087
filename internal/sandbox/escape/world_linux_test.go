package escape

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/confinement"
)

// world is what an agent knows of its surroundings. It is passed as JSON.
type world struct {
	Name    string // a name that no other world of the test has
	Root    string // the directory of all of the following
	Tree    string // a project with its git directory, ledger, settings and policies
	Run     string // what only the agent uses: the following three
	Private string // the temporary directory
	Reports string // the directory of the report
	State   string // the CLI's state
	Home    string
	Other   string // another project
	Proxy   string // the address of the proxy, if there is one

	Level      confinement.Level
	Host       int // the process that started the agent
	Target     int // another process of the user
	Address    uint64
	Descriptor int // a descriptor of a secret that the target has open
	Inherited  int // a descriptor of a secret that the host did not close
	Segment    int // the key of a shared memory segment
	Semaphore  int // the id of a semaphore of System V, and Messages of a message queue
	Messages   int
	Queue      string

	addresses

	attempt  string
	terminal *os.File
	stop     func(t *testing.T)
}

// addresses are where the host listens.
type addresses struct {
	TCP, TCP6, UDP, DNS, API, Relay string
	Second                          string // at 127.0.0.2
	Listed                          string // a port that the settings list
	Stub                            string // 127.0.0.53:53, if the test may listen there
	Socket, Datagram, Abstract      string
}

// Each attempt has files of its own, so that none is in the way of another.

func (w *world) tree(name ...string) string    { return w.in(w.Tree, name) }
func (w *world) private(name ...string) string { return w.in(w.Private, name) }
func (w *world) other(name ...string) string   { return w.in(w.Other, name) }

func (w *world) in(dir string, name []string) string {
	return filepath.Join(append([]string{dir, w.attempt}, name...)...)
}

// mark is the text by which the host recognises what an attempt sends.
func (w *world) mark() string { return w.Name + w.attempt }

const secret = "a secret of the host\n"

// host is the part of the surroundings that all worlds share.
type host struct {
	addresses
	mu      sync.Mutex
	arrived map[string]bool
	worlds  int
}

func (h *host) arrive(mark string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.arrived[mark] = true
}

func (h *host) hasArrived(mark string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.arrived[mark]
}

// count returns the number of the next world.
func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.worlds++
	return h.worlds
}

// newWorld makes the files and processes that an agent attacks.
func (h *host) newWorld(t *testing.T) *world {
	t.Helper()
	n := h.count()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(root, 0o755))
	w := &world{Name: fmt.Sprintf("w%d", n), Root: root, Host: os.Getpid(), addresses: h.addresses}
	for path, name := range map[*string]string{&w.Tree: "tree", &w.Run: "run", &w.Private: "run/tmp", &w.Reports: "run/reports", &w.State: "run/state", &w.Home: "home", &w.Other: "other"} {
		*path = filepath.Join(root, name)
		must(t, os.MkdirAll(*path, 0o755))
	}
	for _, name := range []string{
		"tree/.git/config", "tree/.git/HEAD", "tree/.git/hooks/pre-commit.sample", "tree/.switchyard/ledger.db", "tree/switchyard.yaml", "tree/policies/routing.rego", "tree/agents/own/critic.md", "run/state/settings",
		"other/secret", "home/.ssh/id_ed25519", "home/.aws/credentials", "home/.bashrc", "neighbour/secret",
	} {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(secret), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(w.Other, "program"), []byte("#!/bin/sh\n"), 0o755))
	must(t, os.Symlink("id_ed25519", filepath.Join(w.Home, ".ssh", "link")))
	for n := range all() {
		for _, dir := range []string{w.Tree, w.Private, w.Other} {
			dir = filepath.Join(dir, slug(n))
			must(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o755))
			for _, name := range []string{"file", "second"} {
				must(t, os.WriteFile(filepath.Join(dir, name), []byte("old "+name+"\n"), 0o644))
				must(t, unix.Setxattr(filepath.Join(dir, name), "user.old", []byte("1"), 0))
			}
		}
	}
	if os.Geteuid() == 0 {
		must(t, os.Chown(filepath.Join(root, "neighbour"), otherUser, otherUser))
		w.copySetUserID(t)
	}
	w.openSecret(t)
	w.openTerminal(t)
	w.shareMemory(t)
	w.startTarget(t, h)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// copySetUserID makes a program that runs as another user.
func (w *world) copySetUserID(t *testing.T) {
	id, err := exec.LookPath("id")
	must(t, err)
	program, err := os.ReadFile(id)
	must(t, err)
	path := filepath.Join(w.Tree, "setuid")
	must(t, os.WriteFile(path, program, 0o755))
	must(t, os.Chown(path, otherUser, -1))
	must(t, os.Chmod(path, 0o755|os.ModeSetuid))
}

// openSecret opens a file without close-on-exec, as a careless host would.
func (w *world) openSecret(t *testing.T) {
	fd, err := unix.Open(filepath.Join(w.Other, "secret"), unix.O_RDONLY, 0)
	must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	w.Inherited = fd
}

// openTerminal makes a terminal, which is the agent's standard input.
func (w *world) openTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = master.Close() })
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	w.terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = w.terminal.Close() })
}

// shareMemory makes a segment, a semaphore and a message queue of System V, and a POSIX
// message queue of the user.
func (w *world) shareMemory(t *testing.T) {
	w.Segment = os.Getpid()<<8 | int(w.Name[len(w.Name)-1])
	id, err := unix.SysvShmGet(w.Segment, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	must(t, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	w.Semaphore, err = call(unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600)
	must(t, err)
	t.Cleanup(func() { _ = callError(unix.SYS_SEMCTL, uintptr(w.Semaphore), 0, unix.IPC_RMID) })
	w.Messages, err = call(unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600)
	must(t, err)
	t.Cleanup(func() { _ = callError(unix.SYS_MSGCTL, uintptr(w.Messages), unix.IPC_RMID, 0) })
	w.Queue = fmt.Sprintf("switchyard-escape-%d-%s", os.Getpid(), w.Name)
	fd, err := openQueue(w.Queue, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR)
	must(t, err)
	_ = unix.Close(fd)
	t.Cleanup(func() {
		name, _ := unix.BytePtrFromString(w.Queue)
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
	})
}

func openQueue(name string, flags int) (int, error) {
	text, err := unix.BytePtrFromString(name)
	if err != nil {
		return 0, err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(text)), uintptr(flags), 0o600, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// scratch is memory of the target that attempts read and write.
var scratch = [8]byte{'t', 'a', 'r', 'g', 'e', 't'}

// runTarget is a process of the user that is not the agent's. It prints a line for each
// signal of a kind that is not sent otherwise.
func runTarget() {
	// Root without capabilities is like any other user: others may slow it down.
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &new([2]unix.CapUserData)[0]); err != nil {
		panic(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGUSR2)
	f, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Println(uintptr(unsafe.Pointer(&scratch)), f.Fd())
	go func() {
		for range signals {
			fmt.Println("signal")
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startTarget starts the target. What it prints later is a signal's arrival.
func (w *world) startTarget(t *testing.T, h *host) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], filepath.Join(w.Other, "secret"))
	cmd.Env = []string{modeVar + "=target", "SECRET=" + secret}
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	_, err = fmt.Fscanln(lines, &w.Address, &w.Descriptor)
	must(t, err)
	w.Target = cmd.Process.Pid
	w.stop = func(t *testing.T) {
		_ = in.Close()
		rest, _ := io.ReadAll(lines)
		if strings.Contains(string(rest), "signal") {
			h.arrive(w.Name + slug(slices.IndexFunc(all(), func(a attempt) bool { return a.does == signalByOwner })))
		}
		must(t, cmd.Wait())
	}
}

// newHost starts the servers that attempts connect to.
func newHost(t *testing.T) *host {
	h := &host{arrived: make(map[string]bool)}
	dir := t.TempDir()
	h.TCP = serve(t, "tcp", "127.0.0.1:0", greet)
	h.TCP6 = serve(t, "tcp", "[::1]:0", greet)
	h.API = serve(t, "tcp", "127.0.0.1:0", greet)
	h.Second = serve(t, "tcp", "127.0.0.2:0", greet)
	h.Listed = serve(t, "tcp", "127.0.0.1:0", greet)
	h.Relay = serve(t, "tcp", "127.0.0.1:0", relay)
	h.Socket = serve(t, "unix", filepath.Join(dir, "s"), passSecret)
	h.Abstract = serve(t, "unix", fmt.Sprintf("@switchyard-escape-%d", os.Getpid()), greet)
	h.UDP = h.receive(t, "udp", "127.0.0.1:0")
	h.DNS = h.receive(t, "udp", "127.0.0.1:0")
	h.Stub = h.receive(t, "udp", "127.0.0.53:53")
	h.Datagram = h.receive(t, "unixgram", filepath.Join(dir, "d"))
	return h
}

// serve listens, and returns the address, or "" if this machine has none of its kind.
func serve(t *testing.T, network, address string, handle func(net.Conn)) string {
	l, err := net.Listen(network, address)
	if err != nil {
		return ""
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}

const greeting = "hello"

func greet(c net.Conn) { _, _ = io.WriteString(c, greeting) }

// relay is a server that the proxy lets through, and that connects to any other.
func relay(c net.Conn) {
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return
	}
	to, err := net.Dial("tcp", strings.TrimSpace(line))
	if err != nil {
		return
	}
	defer to.Close()
	_, _ = io.Copy(c, to)
}

// passSecret passes a descriptor of a file that agents cannot open.
func passSecret(c net.Conn) {
	f, err := os.CreateTemp("", "escape")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_, _ = f.WriteString(secret)
	_, _, _ = c.(*net.UnixConn).WriteMsgUnix([]byte(greeting), unix.UnixRights(int(f.Fd())), nil)
}

// receive listens for datagrams, records the mark that each has, and sends them back as
// the answer of a name server without answers.
func (h *host) receive(t *testing.T, network, address string) string {
	var c net.PacketConn
	var err error
	c, err = net.ListenPacket(network, address)
	if err != nil {
		return ""
	}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 512)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			for _, field := range strings.FieldsFunc(string(b[:n]), func(r rune) bool { return r < 'a' && (r < '0' || r > '9') || r > 'z' }) {
				h.arrive(field)
			}
			if n > 2 {
				b[2] |= 0x80
			}
			_, _ = c.WriteTo(b[:n], from)
		}
	}()
	return c.LocalAddr().String()
}

// env returns the variable that carries the world.
func (w *world) env(t *testing.T) string {
	text, err := json.Marshal(w)
	must(t, err)
	return worldVar + "=" + string(text)
}

// snapshot describes every file that no attempt may change at this level.
func (w *world) snapshot(t *testing.T, level confinement.Level, p profile) map[string]string {
	t.Helper()
	files := make(map[string]string)
	if level == confinement.None {
		return files
	}
	changed := make(map[string]bool)
	for n, a := range all() {
		changed[slug(n)] = a.want[level][p] == possible
	}
	if protected()[level][p] == possible {
		for _, name := range deciding() {
			changed[name] = true
		}
	}
	must(t, filepath.WalkDir(w.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case path == w.Run || d.IsDir() && changed[d.Name()]:
			return filepath.SkipDir
		case changed[d.Name()] || path == w.Tree && changed[deciding()[0]]:
			return nil
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		text := fmt.Sprintf("mode %o, owner %d:%d, size %d, modified %d", st.Mode, st.Uid, st.Gid, st.Size, st.Mtim.Nano())
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			names := make([]byte, 256)
			n, err := unix.Listxattr(path, names)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(", content %x, attributes %q", sha256.Sum256(content), names[:n])
		}
		files[path] = text
		return nil
	}))
	return files
}

// compare returns the differences between two snapshots.
func compare(before, after map[string]string) (changes []string) {
	for path, text := range before {
		if after[path] != text {
			changes = append(changes, fmt.Sprintf("%s: %s; before: %s", path, after[path], text))
		}
	}
	for path := range after {
		if before[path] == "" {
			changes = append(changes, path+" is new")
		}
	}
	slices.Sort(changes)
	return changes
}
