package supervise

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// after returns the text that follows the name of a process in /proc/PID/stat, for a
// process in the given state with that many threads.
func after(state string, threads int) string {
	return fmt.Sprintf(" %s 7 8 9 0 -1 4194304 93 0 0 0 0 1 0 0 20 0 %d 0 123456 3133440 433 18446744073709551615\n", state, threads)
}

func TestParseStat(t *testing.T) {
	alive := process{pid: 42, parent: 7, group: 8, session: 9, start: 123456}
	dead := alive
	dead.dead = true
	seated := alive
	seated.terminal = true
	for stat, want := range map[string]process{
		"42 (sh)" + after("S", 1):                                           alive,
		"42 ()" + after("R", 1):                                             alive,
		"42 (a b\n) Z 1 1 1 (" + ")" + after("S", 1):                        alive,
		"42 (sh)" + after("T", 1):                                           alive,
		"42 (sh)" + after("Z", 1):                                           dead,
		"42 (sh)" + after("X", 0):                                           dead,
		"42 (server)" + after("Z", 5):                                       alive, // Its first thread has ended.
		"42 (sh)" + strings.Replace(after("S", 1), " 9 0 ", " 9 34816 ", 1): seated,
	} {
		if got, ok := parseStat([]byte(stat)); !ok || got != want {
			t.Errorf("%q: got %+v, %v", stat, got, ok)
		}
	}
	for _, stat := range []string{
		"", "()", "42", "42 (sh", "42 sh)" + after("S", 1), ")(", "x (sh)" + after("S", 1), " (sh)" + after("S", 1),
		"42 (sh) S 7 8 9", "42 (sh)" + strings.Replace(after("S", 1), " 7 ", " seven ", 1),
		"42 (sh)" + strings.Replace(after("S", 1), "123456", "-1", 1),
	} {
		if got, ok := parseStat([]byte(stat)); ok {
			t.Errorf("%q: got %+v", stat, got)
		}
	}
}

func TestLookUpFindsUs(t *testing.T) {
	e, ok := findProcess("self")
	if !ok || e.pid != os.Getpid() || e.parent != os.Getppid() || e.dead {
		t.Errorf("got %+v, %v", e, ok)
	}
}

// FuzzParseStat tests that the name of a process does not affect the parsed fields.
func FuzzParseStat(f *testing.F) {
	for _, name := range []string{"sh", "", ")", "(", ") Z 1 1 1", "a\nb", "\x00"} {
		f.Add(name)
	}
	want := process{pid: 42, parent: 7, group: 8, session: 9, start: 123456}
	f.Fuzz(func(t *testing.T, name string) {
		parseStat([]byte(name)) // It must not panic.
		if got, ok := parseStat([]byte("42 (" + name + ")" + after("S", 1))); !ok || got != want {
			t.Errorf("%q: got %+v, %v", name, got, ok)
		}
	})
}
