package supervise

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A child is marked by a variable in its environment. The mark is a part of its
// name, so that a child that runs children of its own has several.
const markerPrefix, markerSuffix = "SWITCHYARD_CHILD_", "=1"

func newMarker() string { return rand.Text() }

// What newMarker's texts are made of, and how long they are.
const markerLetters, markerLength = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 26

// markerVariable is a mark's place in the environment.
func markerVariable(mark string) string { return markerPrefix + mark + markerSuffix }

// validMarker reports whether a mark is one of newMarker's. It could come from a file, and
// one that many have would end them all.
func validMarker(mark string) bool {
	return len(mark) == markerLength && strings.Trim(mark, markerLetters) == ""
}

// envMarkers are the marks in the environment that a process started with. One whose
// environment cannot be read has none, as far as we know.
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
