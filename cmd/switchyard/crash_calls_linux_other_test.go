//go:build linux && !amd64

package main

// olderWriteCalls are those that only older processors have.
func olderWriteCalls() map[uint64]writeArgs { return nil }
