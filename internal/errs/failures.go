package errs

// PluginFailures returns the codes of rounds that fail because a plugin breaks, in
// alphabetical order.
func PluginFailures() []Code {
	return []Code{
		PluginABI, PluginConservationViolated, PluginInvalidOutput, PluginMemory, PluginOutputTooLarge, PluginTimeout, PluginTrap,
	}
}

// PolicyFailures returns the codes of rounds that fail because the policy breaks, in
// alphabetical order.
func PolicyFailures() []Code {
	return []Code{
		PolicyFailed, PolicyInvalidDecision, PolicyTimeout, PolicyUndeclaredDestination, PolicyUndefined, PolicyUnsafeCommit,
	}
}
