package supervise

import (
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxPath is how long a link in /proc can be, in bytes.
const maxPath = 4096

// worksIn reports whether a process works in a folder. The package comment says who
// does.
func worksIn(e process, folder string) bool {
	for place := range workPaths(e) {
		if within(place, folder) {
			return true
		}
	}
	return false
}

// within reports whether a place is a folder or below it, "" being none. The system
// adds a remark to the path of what was deleted.
func within(place, folder string) bool {
	rest, ok := strings.CutPrefix(place, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/' || rest == " (deleted)")
}

// workPaths are the paths where a process of our user without a terminal works: its
// working directory, its program and the files that it has open for writing. One
// that may not be looked at has none, as far as we know.
func workPaths(e process) iter.Seq[string] {
	return func(yield func(string) bool) {
		if e.dead || e.terminal {
			return
		}
		// The folder stays that of this process, whoever gets its number.
		proc, err := unix.Open(procDir+"/"+strconv.Itoa(e.pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return
		}
		defer unix.Close(proc)
		var stat unix.Stat_t
		if err := unix.Fstat(proc, &stat); err != nil || int(stat.Uid) != os.Geteuid() {
			return
		}
		buffer := make([]byte, maxPath)
		for _, name := range []string{"cwd", "exe"} {
			if n, err := unix.Readlinkat(proc, name, buffer); err == nil && !yield(string(buffer[:n])) {
				return
			}
		}
		openForWriting(proc, buffer, yield)
	}
}

// openForWriting yields the paths of the files that a process, given by its folder in /proc,
// has open for writing. The links to them show how they were opened by who may do
// what with the link.
func openForWriting(proc int, buffer []byte, yield func(string) bool) {
	fd, err := unix.Openat(proc, "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	dir := os.NewFile(uintptr(fd), "fd")
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return // It has just ended.
	}
	for _, name := range names {
		var link unix.Stat_t
		if err := unix.Fstatat(fd, name, &link, unix.AT_SYMLINK_NOFOLLOW); err != nil || link.Mode&unix.S_IWUSR == 0 {
			continue
		}
		if n, err := unix.Readlinkat(fd, name, buffer); err == nil && !yield(string(buffer[:n])) {
			return
		}
	}
}
