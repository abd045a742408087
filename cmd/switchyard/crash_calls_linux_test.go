package main

import (
	"maps"

	"golang.org/x/sys/unix"
)

// writeArgs has the name of a system call that writes, and which of its arguments are
// the descriptor, the path and the flags of the written file; -1 if it has none. Of two
// paths it is the second, which the call creates.
type writeArgs struct {
	name            string
	fd, path, flags int
}

// writeCalls returns the calls that write, by number. Writing to memory that is mapped
// from a file is not a call: SQLite does so with the index of its log, which is rebuilt
// after a crash.
func writeCalls() map[uint64]writeArgs {
	calls := map[uint64]writeArgs{
		unix.SYS_WRITE:           {"write", 0, -1, -1},
		unix.SYS_PWRITE64:        {"pwrite64", 0, -1, -1},
		unix.SYS_WRITEV:          {"writev", 0, -1, -1},
		unix.SYS_PWRITEV:         {"pwritev", 0, -1, -1},
		unix.SYS_PWRITEV2:        {"pwritev2", 0, -1, -1},
		unix.SYS_SENDFILE:        {"sendfile", 0, -1, -1},
		unix.SYS_SPLICE:          {"splice", 2, -1, -1},
		unix.SYS_COPY_FILE_RANGE: {"copy_file_range", 2, -1, -1},
		unix.SYS_FSYNC:           {"fsync", 0, -1, -1},
		unix.SYS_FDATASYNC:       {"fdatasync", 0, -1, -1},
		unix.SYS_FTRUNCATE:       {"ftruncate", 0, -1, -1},
		unix.SYS_FALLOCATE:       {"fallocate", 0, -1, -1},
		unix.SYS_FCHMOD:          {"fchmod", 0, -1, -1},
		unix.SYS_FCHOWN:          {"fchown", 0, -1, -1},
		unix.SYS_OPENAT:          {"openat", 0, 1, 2},
		unix.SYS_MKDIRAT:         {"mkdirat", 0, 1, -1},
		unix.SYS_UNLINKAT:        {"unlinkat", 0, 1, -1},
		unix.SYS_FCHMODAT:        {"fchmodat", 0, 1, -1},
		unix.SYS_FCHOWNAT:        {"fchownat", 0, 1, -1},
		unix.SYS_UTIMENSAT:       {"utimensat", 0, 1, -1},
		unix.SYS_RENAMEAT:        {"renameat", 2, 3, -1},
		unix.SYS_RENAMEAT2:       {"renameat2", 2, 3, -1},
		unix.SYS_LINKAT:          {"linkat", 2, 3, -1},
		unix.SYS_SYMLINKAT:       {"symlinkat", 1, 2, -1},
		unix.SYS_TRUNCATE:        {"truncate", -1, 0, -1},
	}
	maps.Copy(calls, olderWriteCalls())
	return calls
}
