//go:build !linux

package main

import "testing"

// disturbances are the ways in which a command is disturbed: those that need nothing
// of the system.
func disturbances() map[string]func(*crashSite, *testing.T) {
	return map[string]func(*crashSite, *testing.T){"killed at random moments": (*crashSite).killAtRandomMoments}
}
