//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestTruncationBeforeLandlockKnewIt checks the filter for kernels before 6.2, whose
// Landlock lets everything be truncated that can be read.
func TestTruncationBeforeLandlockKnewIt(t *testing.T) {
	for _, c := range []struct {
		version int
		flags   uint32
		want    int
	}{
		{abiTruncate - 1, unix.O_RDONLY | unix.O_TRUNC, retErrno | int(unix.EPERM)},
		{abiTruncate - 1, unix.O_RDONLY | unix.O_TRUNC | unix.O_CLOEXEC, retErrno | int(unix.EPERM)},
		{abiTruncate - 1, unix.O_ACCMODE | unix.O_TRUNC, retErrno | int(unix.EPERM)}, // It can neither be read nor written.
		{abiTruncate - 1, unix.O_RDWR | unix.O_TRUNC, retAllow},
		{abiTruncate - 1, unix.O_WRONLY | unix.O_TRUNC, retAllow},
		{abiTruncate - 1, unix.O_RDONLY, retAllow},
		{abiTruncate, unix.O_RDONLY | unix.O_TRUNC, retAllow},
	} {
		for number, argument := range opens() {
			if got := decide(t, instructions(c.version, false, false), number, argument, c.flags); got != c.want {
				t.Errorf("version %d, call %d, flags %#x: %#x, want %#x", c.version, number, c.flags, got, c.want)
			}
		}
	}
}

// decide returns what a filter decides on a call with an argument.
func decide(t *testing.T, program []bpf.Instruction, number uintptr, argument, value uint32) int {
	t.Helper()
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, dataArgs+6*8) // The machine reads words in network order.
	binary.BigEndian.PutUint32(data[dataNumber:], uint32(number))
	binary.BigEndian.PutUint32(data[dataArch:], auditArch)
	binary.BigEndian.PutUint32(data[dataArgs+8*argument:], value)
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestControls checks the decisions on ioctl calls, some of which only Btrfs has.
func TestControls(t *testing.T) {
	const refused = retErrno | int(unix.EPERM)
	for name, c := range map[string]struct {
		request       uint32
		edits, others int // the decisions for a process that edits, and for others
	}{
		"TIOCSTI":                  {unix.TIOCSTI, refused, refused},
		"BTRFS_IOC_SNAP_CREATE":    {0x50009401, refused, refused},
		"BTRFS_IOC_SNAP_CREATE_V2": {0x50009417, refused, refused},
		"BTRFS_IOC_SUBVOL_CREATE":  {0x5000940e, refused, refused},
		"BTRFS_IOC_SNAP_DESTROY":   {0x5000940f, refused, refused},
		"FICLONE":                  {unix.FICLONE, retAllow, retAllow},
		"FICLONERANGE":             {unix.FICLONERANGE, retAllow, retAllow},
		"FS_IOC_SETFLAGS":          {unix.FS_IOC_SETFLAGS, retAllow, retErrno},
		"FS_IOC_GETFLAGS":          {unix.FS_IOC_GETFLAGS, retAllow, retAllow},
		"TIOCINQ":                  {unix.TIOCINQ, retAllow, retAllow},
	} {
		for fixedMetadata, want := range map[bool]int{false: c.edits, true: c.others} {
			if got := decide(t, instructions(abiScopes, fixedMetadata, false), unix.SYS_IOCTL, 1, c.request); got != want {
				t.Errorf("%s, fixed metadata %v: %#x, want %#x", name, fixedMetadata, got, want)
			}
		}
	}
}
