package childenv

import (
	"bytes"
	"os"
	"strconv"
)

const maxAbove = 64

// ancestors returns the environments of our ancestors, as far as they can be read.
func ancestors() [][]string {
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
		// The process's name may contain any characters, even parentheses.
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
