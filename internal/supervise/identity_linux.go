package supervise

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func reserve(folder string) Identity {
	return Identity{Start: ticks(), Boot: bootID(), EnvMarker: rand.Text(), Folder: folder}
}

// tick is the unit of start times in /proc on all architectures of Go.
const tick = time.Second / 100

// ticks returns the start time that /proc would show for a process that starts now, or 1,
// which is before all processes, if the clock cannot be read.
func ticks() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 1
	}
	return uint64(now.Nano()) / uint64(tick)
}

// bootID returns the machine's boot id, "" if it is unknown.
func bootID() string {
	id, err := os.ReadFile(filepath.Join(procDir, "sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// A child is marked by a variable in its environment. The marker is part of the
// variable's name, so that a child with children of its own can have several.
const markerPrefix, markerSuffix = "SWITCHYARD_CHILD_", "=1"

// The alphabet and length of rand.Text.
const markerLetters, markerLength = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 26

// markerVariable returns the entry of the environment for a marker.
func markerVariable(mark string) string { return markerPrefix + mark + markerSuffix }

// validMarker reports whether a marker has the form of ours. It may come from a file, and a
// common string would match unrelated processes.
func validMarker(mark string) bool {
	return len(mark) == markerLength && strings.Trim(mark, markerLetters) == ""
}

// envMarkers returns the markers in a process's initial environment, or nil if that cannot be
// read.
func envMarkers(pid int) map[string]bool {
	env, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil
	}
	marks := map[string]bool{}
	for entry := range strings.SplitSeq(string(env), "\x00") {
		if rest, ok := strings.CutPrefix(entry, markerPrefix); ok {
			if mark, ok := strings.CutSuffix(rest, markerSuffix); ok {
				marks[mark] = true
			}
		}
	}
	return marks
}
