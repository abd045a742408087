package project

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/egress"
)

// Confine says how a process is confined, and lists the resources that it may reach besides
// the ones that it needs.
type Confine struct {
	confinement.Want
	// Given is set if switchyard.yaml has it.
	Given bool
	// Read and Write are paths: absolute, ~/NAME, or relative to the project's root.
	Read, Write []string
	// Hosts are as egress.ParseHosts takes them.
	Hosts []string
}

// hasExtraAccess reports whether the process may reach more than by default.
func (c Confine) hasExtraAccess() bool {
	return c.Want != confinement.Best() || len(c.Read)+len(c.Write)+len(c.Hosts) > 0
}

// Resources are the limits of an agent's resources. 0 is no limit.
type Resources struct {
	// Memory is in bytes, Processes counts processes and threads, and CPU is in thousandths
	// of a processor.
	Memory, Processes, CPU int64
}

// The limits of Resources. A program with threads needs some dozens.
const (
	minProcesses, maxProcesses, defaultProcesses = 64, 1 << 20, 4096
	maxProcessors                                = 1024
	maxPaths                                     = 256
	maxMemory                                    = 1 << 40
)

// readConfine reads a level, or a mapping with a level, paths and hosts.
func readConfine(v value) Confine {
	c := Confine{Want: confinement.Best(), Given: true}
	if v.node.Kind != yaml.MappingNode {
		c.Want = readWant(v)
		return c
	}
	v.mapping(fields{
		"level": func(v value) { c.Want = readWant(v) },
		"read":  func(v value) { c.Read = readReach(v) },
		"write": func(v value) { c.Write = readReach(v) },
		"hosts": func(v value) {
			v.list(maxPaths, func(v value) {
				host := v.text()
				if _, err := egress.ParseHosts(nil, []string{host}); err != nil {
					v.fail(": %v", err)
					return
				}
				c.Hosts = append(c.Hosts, host)
			})
		},
	})
	return c
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

func (r *Resources) read(v value) {
	v.mapping(fields{
		"memory":    func(v value) { r.Memory = v.sizeBetween(1<<10, maxMemory, "from 1KiB to 1024GiB, such as 4GiB") },
		"processes": func(v value) { r.Processes = int64(v.integer(minProcesses, maxProcesses)) },
		"cpu":       func(v value) { r.CPU = 1000 * int64(v.integer(1, maxProcessors)) },
	})
}
