package verifycmd

import (
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// ParseExitCode reads an exit code that somebody else measured: 0, or a decimal
// number without a sign, a space or a leading zero, up to 4294967295, the greatest
// of Windows. An empty text, such as that of an unset variable, is not a success.
//
// # Errors
//
// verify-exit-code-invalid.
func ParseExitCode(text string) (int, error) {
	code, err := strconv.ParseUint(text, 10, 32)
	if err != nil || len(text) > 1 && text[0] == '0' {
		return 0, errs.New(errs.VerifyExitCodeInvalid, "%q is no exit code", text).With("exit_code", text)
	}
	return int(code), nil
}
