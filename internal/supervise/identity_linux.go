package supervise

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// reserve is Keeper.Announce.
func reserve(folder string) Identity {
	return Identity{Start: ticks(), Boot: bootID(), EnvMarker: newMarker(), Folder: folder}
}

// tick is what /proc counts the time of a start in, on all architectures that Go
// knows.
const tick = time.Second / 100

// ticks is the time since the machine started, as /proc would show it of a process
// that starts now. Without such a clock it is that of nobody: everybody is younger.
func ticks() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 1
	}
	return uint64(now.Nano()) / uint64(tick)
}

// bootID is the id of the machine's last start, "" where nothing shows it.
func bootID() string {
	id, err := os.ReadFile(filepath.Join(procDir, "sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
