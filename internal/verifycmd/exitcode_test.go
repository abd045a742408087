package verifycmd_test

import (
	"strconv"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
)

func TestParseExitCode(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "1": 1, "10": 10, "127": 127, "255": 255, "3221225786": 3221225786, "4294967295": 4294967295,
	} {
		if got, err := verifycmd.ParseExitCode(text); err != nil || got != want {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", " ", "0x0", "0b0", "0o0", " 0", "0 ", "00", "01", "+0", "-0", "-1", "0\n", "\t0", "0\x00", "0.0", "0e0", "1e3", "1_000",
		"٠", "０", "\ufeff0", "4294967296", "18446744073709551616", "green", "null", "NaN",
	} {
		code, err := verifycmd.ParseExitCode(text)
		if errs.CodeOf(err) != errs.VerifyExitCodeInvalid || code != 0 {
			t.Errorf("%q is %d, %v", text, code, err)
		}
	}
}

// FuzzParseExitCode checks that exactly the printed form of a number is accepted.
func FuzzParseExitCode(f *testing.F) {
	for _, seed := range []string{"", "0", "00", "+1", "255", "4294967295", "4294967296", "0x0", "0\n", "٠"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, err := verifycmd.ParseExitCode(text)
		n, bad := strconv.ParseInt(text, 10, 64)
		want := bad == nil && n >= 0 && n <= 1<<32-1 && strconv.FormatInt(n, 10) == text
		switch {
		case want && (err != nil || int64(code) != n):
			t.Errorf("%q is %d, %v", text, code, err)
		case !want && (errs.CodeOf(err) != errs.VerifyExitCodeInvalid || code != 0):
			t.Errorf("%q is %d, %v", text, code, err)
		}
	})
}
