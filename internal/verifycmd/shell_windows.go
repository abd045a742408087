package verifycmd

import "github.com/switchyard-dev/switchyard/internal/supervise"

// shell returns the spec that runs a command in the shell. cmd takes the text between the
// outermost quotes literally, without escapes.
func shell(command string) supervise.Spec {
	return supervise.Spec{
		Argv:        []string{"cmd", "/s", "/c", command},
		CommandLine: `cmd /s /c "` + command + `"`,
	}
}
