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
			vm, err := bpf.NewVM(instructions(c.version, false, false))
			if err != nil {
				t.Fatal(err)
			}
			data := make([]byte, dataArgs+6*8) // The machine reads words in network order.
			binary.BigEndian.PutUint32(data[dataNumber:], uint32(number))
			binary.BigEndian.PutUint32(data[dataArch:], auditArch)
			binary.BigEndian.PutUint32(data[dataArgs+8*argument:], c.flags)
			if got, err := vm.Run(data); err != nil || got != c.want {
				t.Errorf("version %d, call %d, flags %#x: %#x, %v, want %#x", c.version, number, c.flags, got, err, c.want)
			}
		}
	}
}
