package project

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/egress"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// hasExtraAccess reports whether a process may reach more than by default.
func hasExtraAccess(s access.Settings) bool {
	return s.Want != confinement.Best() || len(s.Read)+len(s.Write)+len(s.Hosts) > 0
}

// The limits of resources. A program with threads needs some dozens.
const (
	minProcesses, maxProcesses, defaultProcesses = 64, 1 << 20, 4096
	maxProcessors                                = 1024
	maxPaths                                     = 256
	maxMemory                                    = 1 << 40
)

// readConfine reads a level, or a mapping with a level, paths and hosts.
func readConfine(v value, s *access.Settings) {
	s.Want = confinement.Best()
	if v.node.Kind != yaml.MappingNode {
		s.Want = readWant(v)
		return
	}
	v.mapping(fields{
		"level": func(v value) { s.Want = readWant(v) },
		"read":  func(v value) { s.Read = readReach(v) },
		"write": func(v value) { s.Write = readReach(v) },
		"hosts": func(v value) {
			v.list(maxPaths, func(v value) {
				host := v.text()
				if _, err := egress.ParseHosts(nil, []string{host}); err != nil {
					v.fail(": %v", err)
					return
				}
				s.Hosts = append(s.Hosts, host)
			})
		},
	})
}

func readWant(v value) confinement.Want {
	text := v.text()
	level, required := strings.CutPrefix(text, "required ")
	switch l := confinement.Level(level); {
	case text == "best":
		return confinement.Best()
	case text == "off":
		return confinement.Want{Level: confinement.None}
	case required && l.Known() && l != confinement.None:
		return confinement.Want{Level: l, Required: true}
	}
	v.expected("best, off, or required with a level: required files, required files+ports or required files+network")
	return confinement.Want{}
}

func readReach(v value) (paths []string) {
	v.list(maxPaths, func(v value) {
		path := v.text()
		if path == "" || strings.ContainsRune(path, 0) || strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "~/") {
			v.expected("a path: absolute, ~/NAME, or relative to the project")
			return
		}
		paths = append(paths, path)
	})
	return paths
}

func readResources(v value, l *sandbox.Limits) {
	v.mapping(fields{
		"memory":    func(v value) { l.Memory = v.sizeBetween(1<<10, maxMemory, "from 1KiB to 1024GiB, such as 4GiB") },
		"processes": func(v value) { l.Processes = int64(v.integer(minProcesses, maxProcesses)) },
		"cpu":       func(v value) { l.CPU = 1000 * int64(v.integer(1, maxProcessors)) },
	})
}
