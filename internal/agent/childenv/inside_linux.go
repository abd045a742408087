package childenv

import (
	"bytes"
	"os"
	"strconv"
)

// maxAbove is how many processes above us are looked at.
const maxAbove = 64

// above returns the environments of the processes above us, as far as we may read
// them: a process can clear its own, and not that of who started it.
func above() [][]string {
	var all [][]string
	pid := os.Getppid()
	for range maxAbove {
		if pid <= 1 {
			break
		}
		dir := "/proc/" + strconv.Itoa(pid)
		if env, err := os.ReadFile(dir + "/environ"); err == nil {
			var list []string
			for _, entry := range bytes.Split(env, []byte{0}) {
				list = append(list, string(entry))
			}
			all = append(all, list)
		}
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			break
		}
		// The name before it may hold anything, parentheses too.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 {
			break
		}
		if pid, err = strconv.Atoi(string(fields[1])); err != nil {
			break
		}
	}
	return all
}
