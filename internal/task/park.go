package task

import "fmt"

// Parking is why a task is parked: an agent's usage limit.
type Parking struct {
	// Until is the time at which the limit ends, in the format of ExpireQuestions.Now.
	Until string `json:"until"`
	// Run is the run that reached the limit.
	Run string `json:"run"`
	// Adapter is the adapter that has the limit.
	Adapter string `json:"adapter"`
}

// TaskParked parks a task until a usage limit ends.
type TaskParked struct {
	Round   int     `json:"round"`
	Parking Parking `json:"parking"`
}

// ParkingEnded continues a parked task.
type ParkingEnded struct {
	// By is "expiry", or the user who ended it earlier.
	By string `json:"by"`
}

// ParkTask parks an open task. It uses up neither the round nor the agent's attempt: the
// run that reached the limit no longer counts.
type ParkTask struct{ Parking }

func (c ParkTask) decide(s State) (Event, error) {
	return TaskParked{Round: s.Round, Parking: c.Parking}, nil
}

func (e TaskParked) round() int { return e.Round }

func (e TaskParked) apply(s State) (State, error) {
	if e.Parking.Until == "" {
		return s, fmt.Errorf("a task is parked without an end")
	}
	s.Status, s.Parked = Parked, &e.Parking
	s.Runs = markStale(s.Runs, func(r Run) bool { return r.Run == e.Parking.Run })
	return s, nil
}

// EndParking continues a parked task if its time is over, or at once if By names a user.
type EndParking struct{ Now, By string }

func (c EndParking) decide(s State) (Event, error) {
	switch {
	case c.By != "":
		if err := checkAllowed(s, KindUnparked); err != nil {
			return nil, err
		}
		return ParkingEnded{By: c.By}, nil
	case s.Status == Parked && s.Parked.Until <= c.Now:
		return ParkingEnded{By: "expiry"}, nil
	default:
		return nil, nil
	}
}

func (e ParkingEnded) apply(s State) (State, error) {
	s.Status, s.Parked = Open, nil
	return s, nil
}
