package childenv

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

const maxAbove = 64

// ancestors returns the environments of our ancestors, as far as they can be read.
func ancestors() [][]string {
	var all [][]string
	pid := os.Getppid()
	for n := 0; pid > 1 && n < maxAbove; n++ {
		dir := "/proc/" + strconv.Itoa(pid)
		if env, err := os.ReadFile(dir + "/environ"); err == nil {
			all = append(all, strings.Split(string(env), "\x00"))
		}
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			break
		}
		// The process's name may contain any characters, even parentheses.
		var state string
		if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &pid); err != nil {
			break
		}
	}
	return all
}
