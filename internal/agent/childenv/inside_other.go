//go:build !linux

package childenv

// ancestors returns nil: other environments cannot be read here.
func ancestors() [][]string { return nil }
