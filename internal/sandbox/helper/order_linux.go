//go:build amd64 || arm64

// Package helper is the part of package sandbox that runs in a process of its own, and
// confines it.
//
// It imports little, and above all not net, since Go initializes a package after its
// imports: in a large program the rest takes several times as long as the helper itself.
package helper

// Name is the name by which this program calls itself as the helper.
const Name = "switchyard-sandbox"

// Order is what the helper is asked to do, as JSON on its control socket.
type Order struct {
	Path          string
	Args          []string
	Dir           string
	Env           []string
	List          []string
	Read, Write   []string
	Protected     []string
	Private       string
	FixedMetadata bool
	// Ports are those that the process may connect to, if PortsOnly is set.
	PortsOnly bool
	Ports     []uint16
	Limits    []Limit
	// Namespaces says that the helper is the first process of its namespaces. The rest is
	// for them.
	Namespaces bool
	Processes  int64
	Forward    []uint16
	ProxyPort  uint16
}

// Reply is the helper's answer, as JSON with the listeners' descriptors: the proxy's, and
// then one for each port of Forward. Error is set if it failed.
type Reply struct {
	// Unavailable says that the system does not offer what the level needs, and NotStarted
	// that the program cannot be run.
	Unavailable, NotStarted bool
	Error                   string
}

// Limit is a limit of the kernel for one process and what it starts.
type Limit struct {
	Resource int
	Value    uint64
}
