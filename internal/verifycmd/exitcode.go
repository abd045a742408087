package verifycmd

import (
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// ParseExitCode parses an exit code that the caller measured: a decimal number without
// sign, space or leading zeros, up to 4294967295, the maximum on Windows. An empty text,
// such as an unset variable, is not a success.
//
// # Errors
//
// verify-exit-code-invalid.
func ParseExitCode(text string) (int, error) {
	code, err := strconv.ParseUint(text, 10, 32)
	if err != nil || len(text) > 1 && text[0] == '0' {
		return 0, errs.New(errs.VerifyExitCodeInvalid, "%q is not an exit code", text).With("exit_code", text)
	}
	return int(code), nil
}
