package plugins

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// output is the answer of sy_normalize: findings and skipped, or an error.
type output struct {
	Critic   string               `json:"critic"`
	TaskID   *string              `json:"task_id"`
	Round    *int                 `json:"round"`
	Findings *list[outputFinding] `json:"findings"`
	Skipped  *list[abi.Skipped]   `json:"skipped"`
	Unmapped list[abi.Unmapped]   `json:"unmapped"`
	Previous list[abi.Statement]  `json:"previous"`
	Error    *guestError          `json:"error"`
}

// maxEntries limits each list of an answer: an answer of 64 MiB could have twenty million
// empty entries, for which the host would need gigabytes.
const maxEntries = 1_000_000

var errEntries = errors.New("too many entries")

// list is an array of at most maxEntries.
type list[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *list[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return json.UnmarshalDecode(d, (*[]T)(l))
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*l = list[T]{}
	for d.PeekKind() != ']' {
		if len(*l) == maxEntries {
			return errEntries
		}
		var entry T
		if err := json.UnmarshalDecode(d, &entry); err != nil {
			return err
		}
		*l = append(*l, entry)
	}
	_, err := d.ReadToken()
	return err
}

// rename replaces the critic from with to.
func (o *output) rename(from, to string) {
	if o.Critic == from {
		o.Critic = to
	}
	for i := range *o.Findings {
		if f := &(*o.Findings)[i]; f.Critic == from {
			f.Critic = to
		}
	}
}

type outputFinding struct {
	Critic      string           `json:"critic"`
	Category    string           `json:"category"`
	Severity    finding.Severity `json:"severity"`
	File        *string          `json:"file"`
	Line        *int             `json:"line"`
	Remediation *string          `json:"remediation"`
	Undoes      string           `json:"undoes"`
	Ref         *string          `json:"ref"`
}

// guestError is a guest's refusal of a report.
type guestError struct {
	Code    string                    `json:"code"`
	Message string                    `json:"message"`
	Hint    string                    `json:"hint"`
	Ref     *string                   `json:"ref"`
	Details map[string]jsontext.Value `json:"details"`
}

func (r *guestError) fault() *errs.Error {
	f := errs.New(errs.Code(r.Code), "%s", r.Message).WithHint(r.Hint)
	for name, text := range r.Details {
		var value any
		err := json.Unmarshal(text, &value)
		if same, _ := json.Marshal(value); err != nil || text.Kind() == '0' && !bytes.Equal(same, text) {
			value = text // A number that a float would change stays as it is.
		}
		f = f.With(name, value)
	}
	if r.Ref != nil {
		f = f.With("ref", *r.Ref)
	}
	return f
}

// decode reads exactly one JSON value: UTF-8, without duplicate or unknown keys.
func decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return abi.Violation(errs.PluginInvalidOutput, abi.InvalidUTF8, "the plugin's answer is not UTF-8")
	}
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(true))
	if errors.Is(err, errEntries) {
		return errs.New(errs.PluginOutputTooLarge, "the plugin's answer has more than %d entries of one kind", maxEntries).With("limit", maxEntries)
	}
	if _, ok := errors.AsType[*jsontext.SyntacticError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return abi.Violation(errs.PluginInvalidOutput, abi.InvalidJSON, "the plugin's answer is not one JSON value: %s", clip(err.Error()))
	}
	if err != nil {
		return errInvalid("the plugin's answer does not follow the ABI: %s", clip(textutil.JSONReason(err).Error()))
	}
	return nil
}

// maxQuoted is the longest quotation of a plugin's text in a message, in code points.
const maxQuoted = 200

// clip cuts a plugin's text to a length that fits into a message.
func clip(text string) string {
	return textutil.Clip(text, maxQuoted)
}

func errInvalid(format string, args ...any) *errs.Error {
	return abi.Violation(errs.PluginInvalidOutput, abi.WrongSchema, format, args...)
}

// decodeOutput reads and checks the answer of sy_normalize. It does not retain data.
func decodeOutput(data []byte) (*output, error) {
	var out output
	err := decode(data, &out)
	switch {
	case err != nil:
	case out.Error == nil:
		err = out.check()
	case out.Findings != nil || out.Skipped != nil || out.Unmapped != nil || out.Previous != nil:
		err = errInvalid("the plugin's answer holds findings and an error at once")
	case len(data) > maxRefusal:
		err = errInvalid("the plugin's error has %d bytes; the limit is %d", len(data), maxRefusal)
	default:
		err = out.Error.check()
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

func (r *guestError) check() error {
	if !abi.IsCode(r.Code) || abi.IsReserved(r.Code) || r.Message == "" {
		return errInvalid("the plugin's error lacks a message or a code of its own in lower-case words")
	}
	if r.Ref != nil {
		if _, ok := document.Tokens(*r.Ref); !ok {
			return errInvalid("the plugin's error has the ref %q, which is not a JSON Pointer", clip(*r.Ref))
		}
	}
	for _, value := range r.Details {
		if _, err := document.Parse(value, document.Limits{}); err != nil {
			return errInvalid("the plugin's error has details of over %d levels", document.DefaultDepth)
		}
	}
	return nil
}

// check checks an answer without an error, and fills in defaults of findings.
func (o *output) check() error {
	switch {
	case o.Findings == nil || o.Skipped == nil:
		return errInvalid("the plugin's answer lacks findings or skipped")
	case o.Critic == "" || o.Critic == finding.AuditCritic:
		return errInvalid("the plugin's answer names no critic, or the reserved one")
	case o.Round != nil && *o.Round < 1:
		return errInvalid("the plugin's answer names round %d", *o.Round)
	}
	for i := range *o.Findings {
		f := &(*o.Findings)[i]
		f.Critic, f.Severity = cmp.Or(f.Critic, o.Critic), cmp.Or(f.Severity, finding.Fail)
		switch {
		case f.Critic == finding.AuditCritic:
			return errInvalid("finding %d speaks for the reserved critic %q", i, f.Critic)
		case f.Category == "":
			return errInvalid("finding %d has no category", i)
		case f.Line != nil && *f.Line < 1:
			return errInvalid("finding %d has line %d", i, *f.Line)
		case f.Remediation == nil || f.Ref == nil:
			return errInvalid("finding %d lacks its remediation or its ref", i)
		case f.Undoes != "" && !finding.IsFingerprint(f.Undoes):
			return errInvalid("finding %d undoes %q, which is not a fingerprint", i, clip(f.Undoes))
		}
	}
	for i, s := range *o.Skipped {
		if s.Reason == "" {
			return errInvalid("skipped entry %d gives no reason", i)
		}
	}
	for i, u := range o.Unmapped {
		if u.Rule == "" || u.Category == "" {
			return errInvalid("unmapped entry %d lacks its rule or its category", i)
		}
	}
	named := make(map[string]bool, len(o.Previous))
	for i, s := range o.Previous {
		switch {
		case !finding.IsFingerprint(s.ID):
			return errInvalid("previous entry %d has the id %q, which is not a fingerprint", i, clip(s.ID))
		case !s.Status.IsStated():
			return errInvalid("previous entry %d has the unknown status %q", i, clip(string(s.Status)))
		case named[s.ID]:
			return errInvalid("previous entry %d names the finding %s again", i, s.ID)
		}
		named[s.ID] = true
	}
	return nil
}

// decodeDescription reads and checks the answer of sy_describe. It does not retain data.
func decodeDescription(data []byte) (abi.Description, error) {
	var d abi.Description
	if len(data) > maxDescription {
		return d, errInvalid("the plugin describes itself with %d bytes; the limit is %d", len(data), maxDescription)
	}
	if err := decode(data, &d); err != nil {
		return d, err
	}
	switch {
	case !abi.IsName(d.Name):
		return d, errInvalid("the plugin's name %q is not in lower-case letters, digits and dashes", clip(d.Name))
	case d.Name == abi.Auto:
		return d, abi.Violation(errs.PluginInvalidOutput, abi.ReservedName, "the plugin calls itself %s, which means detection", d.Name)
	case d.Version == "" || len(d.Version) > 64:
		return d, errInvalid("the plugin has no version, or one of over 64 bytes")
	case d.Critic == "" || d.Critic == finding.AuditCritic:
		return d, errInvalid("the plugin names no critic, or the reserved one")
	case len(d.Items) == 0 && d.ItemsFrom == "":
		return d, errInvalid("the plugin names no items to account for")
	case len(d.Formats) == 0 || len(d.Formats) > maxPointers:
		return d, errInvalid("the plugin reads %d formats; it must be 1 to %d", len(d.Formats), maxPointers)
	}
	for _, f := range d.Formats {
		if _, ok := document.FormatOf(f); !ok {
			return d, errInvalid("the plugin reads %q, which this host cannot give it: it can be JSON, JSON lines or XML", clip(f))
		}
	}
	pointers := slices.Concat(d.Detect, d.DetectAny, d.Items)
	for _, pointer := range []string{d.ItemsFrom, d.LinesIf} {
		if pointer != "" {
			pointers = append(pointers, pointer)
		}
	}
	if len(pointers) > maxPointers {
		return d, errInvalid("the plugin describes itself with %d JSON Pointers; the limit is %d", len(pointers), maxPointers)
	}
	for _, pointer := range pointers {
		if problem := checkPointer(pointer); problem != "" {
			return d, errInvalid("the plugin describes itself with %q, which %s", clip(pointer), problem)
		}
	}
	return d, nil
}

// checkPointer returns the problem of a JSON Pointer, or "".
func checkPointer(pointer string) string {
	tokens, ok := document.Tokens(pointer)
	switch {
	case !ok:
		return "is not a JSON Pointer"
	case len(tokens) > maxPointerTokens:
		return fmt.Sprintf("has %d steps; the limit is %d", len(tokens), maxPointerTokens)
	}
	return ""
}

// The limits of a description. The host walks over a report once for each pointer
// and each of its steps. maxDescription is in bytes.
const (
	maxPointers      = 64
	maxPointerTokens = 16
	maxDescription   = 64 << 10
)

// maxRefusal is the largest error of a guest, in bytes.
const maxRefusal = 64 << 10
