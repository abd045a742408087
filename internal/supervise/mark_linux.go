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
const markPrefix, markSuffix = "SWITCHYARD_CHILD_", "=1"

func newMark() string { return rand.Text() }

// What newMark's texts are made of, and how long they are.
const markLetters, markLength = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 26

// variable is a mark's place in the environment.
func variable(mark string) string { return markPrefix + mark + markSuffix }

// genuine reports whether a mark is one of newMark's. It could come from a file, and
// one that many have would end them all.
func genuine(mark string) bool {
	return len(mark) == markLength && strings.Trim(mark, markLetters) == ""
}

// marksOf are the marks in the environment that a process started with. One whose
// environment cannot be read has none, as far as we know.
func marksOf(pid int) map[string]bool {
	env, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil
	}
	marks := map[string]bool{}
	for entry := range strings.SplitSeq(string(env), "\x00") {
		if rest, ok := strings.CutPrefix(entry, markPrefix); ok {
			if mark, ok := strings.CutSuffix(rest, markSuffix); ok {
				marks[mark] = true
			}
		}
	}
	return marks
}
