//go:build linux && !amd64

package main

// olderWriteCalls returns the write calls that only older architectures have.
func olderWriteCalls() map[uint64]writeArgs { return nil }
