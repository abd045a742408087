package task

import (
	"cmp"
	"fmt"
)

// ImportTask takes a task over from another tool.
type ImportTask struct{ TaskImported }

func (c ImportTask) decide(s State) (Event, error) {
	if err := allow(s, KindImported); err != nil {
		return nil, err
	}
	// Without a cap of its own it gets the project's when it goes on.
	if err := checkCap(c.Round, cmp.Or(c.MaxRounds, MaxRounds)); err != nil {
		return nil, err
	}
	if c.Round < 1 {
		return nil, fmt.Errorf("a task cannot be imported in round %d", c.Round)
	}
	return c.TaskImported, nil
}
