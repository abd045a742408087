package supervise

// Impatient returns a Supervisor that does not wait for a hard kill to take effect.
func Impatient() *Supervisor { return &Supervisor{} }
