package command

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// connect returns a client for the server of the flags and of Temporal's configuration. The
// caller must close it. If logs is true, warnings and errors of the SDK are printed.
func (a *app) connect(ctx context.Context, metrics client.MetricsHandler, logs bool) (client.Client, error) {
	o, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFileStrict: true})
	if err != nil {
		return nil, errs.New(errs.FleetConnectionInvalid, "the settings of the connection to Temporal are wrong: %w", err)
	}
	if a.address != "" {
		o.HostPort = a.address
	}
	if a.namespace != "" {
		o.Namespace = a.namespace
	}
	o.MetricsHandler = metrics
	// Payloads are small, and compressing them takes more time than it saves.
	o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	handler := slog.DiscardHandler
	if logs {
		handler = slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})
	}
	o.Logger = log.NewStructuredLogger(slog.New(handler))
	c, err := client.DialContext(ctx, o)
	return c, serverError(ctx, err)
}

// with calls work with a client and the name of the project.
func (a *app) with(ctx context.Context, work func(c client.Client, project string) error) error {
	_, name, err := a.project()
	if err != nil {
		return err
	}
	c, err := a.connect(ctx, nil, false)
	if err != nil {
		return err
	}
	defer c.Close()
	return work(c, name)
}

// serverError converts an error of the server to one with a code. It returns nil for nil.
func serverError(ctx context.Context, err error) error {
	code := errs.FleetServerUnreachable
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case is[*serviceerror.NamespaceNotFound](err), is[*serviceerror.NamespaceInvalidState](err):
		code = errs.FleetNamespaceUnknown
	case is[*serviceerror.PermissionDenied](err), strings.Contains(err.Error(), "Unauthenticated"):
		code = errs.FleetServerRefused
	case is[*serviceerror.InvalidArgument](err) && strings.Contains(err.Error(), "search attribute"), strings.Contains(err.Error(), "SwitchyardProject"):
		code = errs.FleetAttributesMissing
	case strings.Contains(err.Error(), "authentication handshake failed"), strings.Contains(err.Error(), "error reading server preface"):
		code = errs.FleetServerUntrusted
	case !is[*serviceerror.Unavailable](err) && !is[*serviceerror.DeadlineExceeded](err) && !errors.Is(err, context.DeadlineExceeded):
		code = errs.Internal
	}
	return errs.New(code, "the Temporal server: %s", textutil.Clip(err.Error(), maxServerText)).Because(err)
}

// maxServerText limits a message of the server, in code points.
const maxServerText = 500

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
