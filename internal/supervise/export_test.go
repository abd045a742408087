package supervise

// Impatient returns a Keeper that gives a hard kill no time at all to take effect.
func Impatient() *Supervisor { return &Supervisor{} }
