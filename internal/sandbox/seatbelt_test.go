package sandbox

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
)

func TestSeatbeltProfile(t *testing.T) {
	spec := Spec{
		List: []string{"/p"}, Read: []string{"/p/src"}, Write: []string{"/tmp/run"}, Protected: []string{"/tmp/run/.git"},
		FixedMetadata: true, Forward: []uint16{4000},
	}
	for level, want := range map[confinement.Level][]string{
		confinement.Files: {`(allow network*)`, `(deny network-outbound (remote unix-socket))`},
		confinement.Ports: {`(allow network-outbound (remote ip "localhost:3128"))`, `(allow network-outbound (remote ip "localhost:4000"))`},
	} {
		profile := seatbelt(level, spec, 3128)
		for _, rule := range append(want,
			`(deny default)`, `(allow file-read-data (literal "/p"))`, `(allow file-read* (subpath "/p/src"))`,
			`(allow file-write* (subpath "/tmp/run"))`, `(deny file-write* (subpath "/tmp/run/.git"))`,
			`(deny file-write-mode file-write-owner file-write-flags file-write-times file-write-xattr)`,
		) {
			if !strings.Contains(profile, rule+"\n") {
				t.Errorf("%s lacks %s:\n%s", level, rule, profile)
			}
		}
		for _, wrong := range []string{`file-write* (subpath "/p`, `(allow file-write* (subpath "/"))`} {
			if strings.Contains(profile, wrong) {
				t.Errorf("%s has %s:\n%s", level, wrong, profile)
			}
		}
		if strings.Index(profile, "(deny file-write* (subpath") < strings.Index(profile, "(allow file-write* (subpath") {
			t.Error("what is protected comes before what is writable, which wins then")
		}
		if strings.Contains(profile, "(allow network*)") != (level == confinement.Files) {
			t.Errorf("%s allows the wrong network:\n%s", level, profile)
		}
	}
}

// TestSeatbeltQuotesPaths tests that a path cannot end its text and add rules.
func TestSeatbeltQuotesPaths(t *testing.T) {
	path := "/p/\") (allow default) (\"\\\n"
	profile := seatbelt(confinement.Files, Spec{Write: []string{path}}, 0)
	if want := `(subpath "/p/\") (allow default) (\"\\\n")`; strings.Count(profile, want) != 2 {
		t.Errorf("lacks %s:\n%s", want, profile)
	}
}
