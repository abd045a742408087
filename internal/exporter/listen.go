package exporter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The values of details.problem of listen-failed.
const (
	problemTaken    = "taken"
	problemDenied   = "denied"
	problemUnusable = "unusable"
)

// CheckAddress returns an error if an address to listen on is not HOST:PORT.
func CheckAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address: want HOST:PORT, as in %s", address, DefaultAddress)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is not a port: want a number up to 65535, 0 for a free one", port)
	}
	return nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	if err := CheckAddress(address); err != nil {
		return nil, errs.New(errs.ListenFailed, "%w", err).With("address", address).With("problem", problemUnusable)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	problem := problemUnusable
	switch {
	case errors.Is(err, inUse()):
		problem = problemTaken
	case errors.Is(err, fs.ErrPermission):
		problem = problemDenied
	}
	var cause = err
	if op, ok := errors.AsType[*net.OpError](err); ok {
		cause = op.Err // The message already has the address.
	}
	return nil, errs.New(errs.ListenFailed, "listen on %s: %v", address, cause).Because(err).
		With("address", address).With("problem", problem)
}
