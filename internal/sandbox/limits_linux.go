//go:build amd64 || arm64

package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/retry"
	"github.com/switchyard-dev/switchyard/internal/sandbox/helper"
)

// group is a control group (cgroup v2) of one process and its descendants. The zero value is
// no group.
type group struct{ path string }

// limit creates a control group with the limits. If that fails, it adds per-process limits to
// the order, and notes which limits these do not enforce.
func limit(o *helper.Order, l Limits, notes *[]string) group {
	if l == (Limits{}) {
		return group{}
	}
	parent, err := delegatedGroup(procSelfCgroup, cgroupMount, l.controllers())
	if err == nil {
		var g group
		if g, err = newGroup(parent, l); err == nil {
			return g
		}
	}
	note := func(what string) { *notes = append(*notes, what+": "+err.Error()) }
	if l.Memory > 0 {
		o.Limits = append(o.Limits, helper.Limit{Resource: unix.RLIMIT_DATA, Value: uint64(l.Memory)})
		note("memory is limited for each process instead of for all")
	}
	if l.Processes > 0 {
		limitProcesses(o, l.Processes, note)
	}
	if l.CPU > 0 {
		note("processor time is not limited")
	}
	return group{}
}

// minMaxPID is the lowest limit that the kernel accepts.
const minMaxPID = 301

// limitProcesses limits the number of processes without a control group. In namespaces the
// kernel can limit processes of root too.
func limitProcesses(o *helper.Order, most int64, note func(what string)) {
	if o.Namespaces && kernelAtLeast(6, 14) {
		o.MaxPID = strconv.FormatInt(max(most, minMaxPID), 10)
		return
	}
	if os.Getuid() == 0 {
		note("processes are not limited, since the kernel does not limit those of root")
		return
	}
	if !o.Namespaces { // The user's other processes count too.
		running, err := tasksOfUser(os.Getuid())
		if err != nil {
			note("processes are not limited, since those of the user cannot be counted")
			return
		}
		most += running
		note("processes are limited together with all others of the user")
	}
	o.Limits = append(o.Limits, helper.Limit{Resource: unix.RLIMIT_NPROC, Value: uint64(most)})
}

// controllers are the cgroup controllers that the limits need.
func (l Limits) controllers() (names []string) {
	for name, n := range map[string]int64{"memory": l.Memory, "pids": l.Processes, "cpu": l.CPU} {
		if n > 0 {
			names = append(names, name)
		}
	}
	return names
}

const (
	procSelfCgroup = "/proc/self/cgroup"
	cgroupMount    = "/sys/fs/cgroup"
)

// delegatedGroup returns a group in which this process may create groups with the controllers: its
// own group, or the parent of that, since a group with processes cannot delegate controllers.
func delegatedGroup(self, mount string, controllers []string) (string, error) {
	text, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	own := ""
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			own = path
		}
	}
	if own == "" {
		return "", fmt.Errorf("there are no control groups of version 2")
	}
	missing := ""
	for _, path := range []string{filepath.Dir(own), own} {
		shared, err := os.ReadFile(filepath.Join(mount, path, "cgroup.subtree_control"))
		if err != nil {
			missing = "there are no control groups of version 2 in " + mount
			continue
		}
		if missing = missingController(shared, controllers); missing == "" && canDivide(filepath.Join(mount, path)) {
			return filepath.Join(mount, path), nil
		}
		if missing == "" {
			missing = "the control group " + path + " is not delegated to this user"
		}
	}
	return "", fmt.Errorf("%s", missing)
}

// canDivide reports whether this process may create groups in a group and move processes into
// them. The kernel requires write access to the cgroup.procs of the common parent.
func canDivide(group string) bool {
	return unix.Access(group, unix.W_OK) == nil && unix.Access(filepath.Join(group, "cgroup.procs"), unix.W_OK) == nil
}

// missingController says which of the controllers a group does not delegate, "" if it
// delegates all.
func missingController(shared []byte, controllers []string) string {
	has := strings.Fields(string(shared))
	for _, c := range controllers {
		if !slices.Contains(has, c) {
			return "its control group does not have the controller " + c
		}
	}
	return ""
}

func newGroup(parent string, l Limits) (group, error) {
	g := group{path: filepath.Join(parent, "switchyard-"+strings.ToLower(rand.Text()))}
	failed := func(err error) (group, error) {
		g.remove()
		return group{}, fmt.Errorf("a control group cannot be made: %w", err)
	}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return failed(err)
	}
	const period = 100000 // microseconds
	files := make(map[string]string)
	if l.Memory > 0 {
		files["memory.max"], files["memory.oom.group"] = strconv.FormatInt(l.Memory, 10), "1"
	}
	if l.Processes > 0 {
		files["pids.max"] = strconv.FormatInt(l.Processes, 10)
	}
	if l.CPU > 0 {
		files["cpu.max"] = fmt.Sprintf("%d %d", l.CPU*period/1000, period)
	}
	for file, value := range files {
		if err := os.WriteFile(filepath.Join(g.path, file), []byte(value), 0o600); err != nil {
			return failed(err)
		}
	}
	return g, nil
}

// enter moves a process into the group, if there is one.
func (g group) enter(pid int) error {
	if g.path == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(g.path, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
}

// remove kills the remaining processes of the group, and removes it.
func (g group) remove() {
	if g.path == "" {
		return
	}
	_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0o600)
	for range (retry.Backoff{First: time.Millisecond, Max: 20 * time.Millisecond, Limit: 20}).Attempts(context.Background()) {
		if err := os.Remove(g.path); !errors.Is(err, unix.EBUSY) { // A killed process takes a moment to end.
			return
		}
	}
}

func tasksOfUser(uid int) (int64, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	var n int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || e.Name()[0] < '0' || e.Name()[0] > '9' {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == uid {
			if threads, err := os.ReadDir(filepath.Join("/proc", e.Name(), "task")); err == nil {
				n += int64(len(threads))
			}
		}
	}
	return n, nil
}
