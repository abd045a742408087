package project

import (
	"io/fs"
	"os"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// FileOwner is the owner of the configuration, for a section that runs commands, hands
// out secrets or sends data.
type FileOwner struct {
	// Foreign is true if the file belongs neither to the user nor to root, so that the
	// section must not be trusted. Owner is the id of its owner.
	Foreign bool
	Owner   int
}

func ownerOf(file fs.FileInfo) FileOwner {
	owner, ok := safefile.Owner(file)
	if !ok {
		return FileOwner{Foreign: true} // The owner is unknown, so do not trust the file.
	}
	return FileOwner{Owner: owner, Foreign: owner != os.Geteuid() && owner != 0}
}

// checkTrusted fails if the file is foreign. consequence completes the message; command,
// unless it is "", is a detail.
func (o FileOwner) checkTrusted(consequence, command string) error {
	if !o.Foreign {
		return nil
	}
	err := errs.New(errs.ConfigForeign, "%s belongs to user %d, so that %s", ConfigFile, o.Owner, consequence).With("owner", o.Owner)
	if command != "" {
		err = err.With("command", command)
	}
	return err
}

// CheckTrusted fails if another user may have written the verification command.
func (v *Verify) CheckTrusted() error {
	if v == nil {
		return nil
	}
	return v.checkTrusted("its verification command is not run", v.Command)
}

// CheckTrusted fails if another user may have written the commands for reports.
func (r Reports) CheckTrusted() error {
	if len(r.Commands) == 0 {
		return nil
	}
	return r.checkTrusted("its commands for reports are not run", r.Commands[0].Run)
}

// CheckTrusted fails if another user may have written the section.
func (s Spawn) CheckTrusted() error {
	return s.checkTrusted("what its spawn section runs or hands out is not used", "")
}

// CheckTrusted fails if another user may have written the destinations of metrics.
func (m Metrics) CheckTrusted() error { return m.checkTrusted("the metrics are not published", "") }
