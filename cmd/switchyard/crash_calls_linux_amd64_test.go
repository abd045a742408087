package main

import "golang.org/x/sys/unix"

// olderWriteCalls returns the write calls that only older architectures have.
func olderWriteCalls() map[uint64]writeArgs {
	return map[uint64]writeArgs{
		unix.SYS_OPEN:    {"open", -1, 0, 1},
		unix.SYS_CREAT:   {"creat", -1, 0, -1},
		unix.SYS_MKDIR:   {"mkdir", -1, 0, -1},
		unix.SYS_RMDIR:   {"rmdir", -1, 0, -1},
		unix.SYS_UNLINK:  {"unlink", -1, 0, -1},
		unix.SYS_RENAME:  {"rename", -1, 1, -1},
		unix.SYS_LINK:    {"link", -1, 1, -1},
		unix.SYS_SYMLINK: {"symlink", -1, 1, -1},
		unix.SYS_CHMOD:   {"chmod", -1, 0, -1},
	}
}
