//go:build !linux

package main

import "testing"

// disturbances returns the ways to disturb a command that work on every system.
func disturbances() map[string]func(*crashSite, *testing.T) {
	return map[string]func(*crashSite, *testing.T){"killed at random moments": (*crashSite).killAtRandomMoments}
}
