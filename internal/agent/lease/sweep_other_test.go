//go:build unix && !linux

package lease_test

import "errors"

// runChild is for Linux, where a child is found again after its keeper's death.
func runChild(string, string, string) error { return errors.New("not here") }
