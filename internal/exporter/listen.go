package exporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/errs"
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
	var l net.Listener
	err := CheckAddress(address)
	if err == nil {
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", address)
	}
	if err == nil {
		return l, nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // The message already has the address.
	}
	return nil, errs.New(errs.ListenFailed, "failed to listen on %s: %w", address, err).With("address", address)
}
