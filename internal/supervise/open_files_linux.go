package supervise

import (
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxPath bounds a link in /proc, in bytes.
const maxPath = 4096

// worksIn reports whether a process works in a directory, as the package comment defines it.
func worksIn(e process, folder string) bool {
	for place := range workPaths(e) {
		if within(place, folder) {
			return true
		}
	}
	return false
}

// within reports whether a path is a directory or below it. The kernel appends a mark to the
// path of a deleted file.
func within(place, folder string) bool {
	rest, ok := strings.CutPrefix(place, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/' || rest == " (deleted)")
}

// workPaths yields the working directory, the program and the files open for writing of a
// process of our user without a terminal. It yields no path if the process cannot be
// inspected.
func workPaths(e process) iter.Seq[string] {
	return func(yield func(string) bool) {
		if e.dead || e.terminal {
			return
		}
		// The descriptor refers to this process even if its number is reused.
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

// openForWriting yields the paths of the files that a process, given by its directory in
// /proc, has open for writing. The mode of each link shows how the file was opened.
func openForWriting(proc int, buffer []byte, yield func(string) bool) {
	fd, err := unix.Openat(proc, "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	dir := os.NewFile(uintptr(fd), "fd")
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return // The process has just ended.
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
