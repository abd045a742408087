//go:build amd64 || arm64

package sandbox

import "github.com/switchyard-dev/switchyard/internal/confinement"

// Available returns the reason why a level cannot be reached here, as far as it is known
// without trying.
//
// # Errors
//
// confine-unavailable.
func Available(l confinement.Level) error {
	version := landlockVersion()
	switch {
	case l == confinement.None:
		return nil
	case version == 0:
		return unavailable(l, "the kernel has no Landlock, or it is not enabled")
	case l == confinement.Ports && version < abiPorts:
		return unavailable(l, "the kernel's Landlock has version %d, and ports need 4 (Linux 6.7)", version)
	default:
		return nil
	}
}
