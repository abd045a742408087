package supervise

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// procDir is where Linux shows the processes.
const procDir = "/proc"

// process is what /proc shows of a process. Its number and the time of its start
// together are its identity: numbers are used again.
type process struct {
	pid, parent, group, session int
	start                       uint64 // in ticks since the machine started
	terminal                    bool   // it has one
	dead                        bool   // it has ended, and its parent has not asked how
}

// readStats lists all processes, also those that have ended and wait to be reaped.
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
		if e, ok := readStat(name, buffer); ok { // Others have ended meanwhile.
			all = append(all, e)
		}
	}
	return all, nil
}

// findProcess reads the entry of a process: its number, or "self".
func findProcess(name string) (process, bool) { return readStat(name, make([]byte, statSize)) }

// statSize is more than a process's stat can have: some 50 numbers and a short name.
const statSize = 2048

// readStat is findProcess with a buffer to use. A look reads the stat of every process of the
// machine, so it goes straight to the system.
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

// The places of fields after the name in /proc/PID/stat, as proc_pid_stat(5)
// describes it.
const (
	statState   = 0
	statParent  = 1
	statGroup   = 2
	statSession = 3
	statTTY     = 4
	statThreads = 17
	statStart   = 19
)

// parseStat reads the content of /proc/PID/stat. The second field is the process's
// name in parentheses. It may hold anything, parentheses too; what follows it has
// none.
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
	// A process whose first thread has ended looks dead while the others run.
	ended := fields[statState][0] == 'Z' || fields[statState][0] == 'X'
	e.dead = ended && number(fields[statThreads]) <= 1
	start, err := strconv.ParseUint(string(fields[statStart]), 10, 64)
	e.start = start
	return e, ok && err == nil
}

// signal signals the process, if it still is the one that was found. Where the
// kernel has handles for processes, FindProcess takes one, and its number cannot
// pass to another between the look and the signal.
func (e process) signal(s syscall.Signal) {
	p, err := os.FindProcess(e.pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if now, ok := findProcess(strconv.Itoa(e.pid)); ok && now.start == e.start {
		_ = p.Signal(s) // It fails where the process has just ended.
	}
}
