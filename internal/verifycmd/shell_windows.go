package verifycmd

import "github.com/switchyard-dev/switchyard/internal/supervise"

// shell is how the shell is asked to run a command. cmd takes the line as it is
// between the outermost quotes, and has no way to escape any.
func shell(command string) supervise.Spec {
	return supervise.Spec{
		Argv:        []string{"cmd", "/s", "/c", command},
		CommandLine: `cmd /s /c "` + command + `"`,
	}
}
