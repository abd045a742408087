package task

// Kinds returns all kinds of events.
func Kinds() []Kind {
	var all []Kind
	for _, row := range kinds {
		all = append(all, row.kind)
	}
	return all
}
