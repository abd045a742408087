package supervise

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processTable is a snapshot of all processes, with zombies.
type processTable struct {
	self     process
	all      []process
	children map[int][]process // by parent
}

// readProcesses takes a snapshot. A process that starts or ends meanwhile may be missing.
func readProcesses() (processTable, error) {
	all, err := readStats()
	if err != nil {
		return processTable{}, err
	}
	p := processTable{all: all, children: byParent(all)}
	for _, e := range all {
		if e.pid == os.Getpid() {
			p.self = e
		}
	}
	return p, nil
}

// sharedSnapshot lets concurrent callers share a snapshot, since many children may end at
// once.
type sharedSnapshot struct {
	mu    sync.Mutex
	began time.Time // of the last snapshot
	last  processTable
}

// take returns a snapshot that was begun after the call. It must not be modified.
func (s *sharedSnapshot) take() (processTable, error) {
	asked := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.After(asked) {
		return s.last, nil
	}
	began := time.Now()
	now, err := readProcesses()
	if err == nil {
		s.began, s.last = began, now
	}
	return now, err
}

// orphans returns our children outside of our own session: supervised children, and orphans
// that were reparented to us.
func (p processTable) orphans() []process {
	var orphans []process
	for _, e := range p.children[p.self.pid] {
		if e.session != p.self.session {
			orphans = append(orphans, e)
		}
	}
	return orphans
}

// ancestors returns the numbers of this program and its ancestors.
func (p processTable) ancestors() map[int]bool {
	parents := make(map[int]int, len(p.all))
	for _, e := range p.all {
		parents[e.pid] = e.parent
	}
	above := map[int]bool{}
	for pid := p.self.pid; pid != 0 && !above[pid]; pid = parents[pid] {
		above[pid] = true
	}
	return above
}

func byParent(all []process) map[int][]process {
	children := make(map[int][]process, len(all))
	for _, e := range all {
		children[e.parent] = append(children[e.parent], e)
	}
	return children
}

// closure adds all processes that are related to those found, transitively.
func closure(found []process, related func(process) []process) []process {
	in := make(map[int]bool, len(found))
	for _, e := range found {
		in[e.pid] = true
	}
	for i := 0; i < len(found); i++ { // found grows in the loop
		for _, e := range related(found[i]) {
			if !in[e.pid] {
				in[e.pid] = true
				found = append(found, e)
			}
		}
	}
	return found
}

const procDir = "/proc"

// process is the content of /proc/PID/stat. The number and the start time together
// identify it: numbers are reused.
type process struct {
	pid, parent, group, session int
	start                       uint64 // in ticks since boot
	terminal                    bool
	dead                        bool // a zombie
}

// readStats lists all processes, with zombies.
func readStats() ([]process, error) {
	dir, err := os.Open(procDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := make([]process, 0, len(names))
	buffer := make([]byte, statSize)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if e, ok := readStat(name, buffer); ok { // Otherwise it has ended meanwhile.
			all = append(all, e)
		}
	}
	return all, nil
}

// findProcess reads the process with a number, or "self".
func findProcess(name string) (process, bool) { return readStat(name, make([]byte, statSize)) }

// statSize is more than a stat file can have: some 50 numbers and a short name.
const statSize = 2048

// readStat is findProcess with a buffer. It uses system calls directly, since a snapshot reads
// the stat files of all processes.
func readStat(name string, buffer []byte) (process, bool) {
	f, err := unix.Open(procDir+"/"+name+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	defer unix.Close(f)
	n, err := unix.Read(f, buffer)
	if err != nil {
		return process{}, false
	}
	return parseStat(buffer[:n])
}

// The indexes of the fields after the name in /proc/PID/stat, see proc_pid_stat(5).
const (
	statState   = 0
	statParent  = 1
	statGroup   = 2
	statSession = 3
	statTTY     = 4
	statThreads = 17
	statStart   = 19
)

// parseStat parses /proc/PID/stat. The second field is the name in parentheses, which may
// contain any characters, even parentheses.
func parseStat(stat []byte) (process, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) <= statStart {
		return process{}, false
	}
	ok := true
	number := func(text []byte) int {
		n, err := strconv.Atoi(string(text))
		ok = ok && err == nil
		return n
	}
	e := process{
		pid:     number(bytes.TrimSpace(stat[:open])),
		parent:  number(fields[statParent]),
		group:   number(fields[statGroup]),
		session: number(fields[statSession]),
	}
	e.terminal = number(fields[statTTY]) != 0
	// A process whose first thread has ended looks dead while other threads run.
	ended := fields[statState][0] == 'Z' || fields[statState][0] == 'X'
	e.dead = ended && number(fields[statThreads]) <= 1
	start, err := strconv.ParseUint(string(fields[statStart]), 10, 64)
	e.start = start
	return e, ok && err == nil
}

// signal signals the process unless its number was reused. If the kernel has pidfds,
// FindProcess opens one, so the number cannot be reused between the check and the signal.
func (e process) signal(s syscall.Signal) {
	p, err := os.FindProcess(e.pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if now, ok := findProcess(strconv.Itoa(e.pid)); ok && now.start == e.start {
		_ = p.Signal(s) // It fails if the process has just ended.
	}
}
