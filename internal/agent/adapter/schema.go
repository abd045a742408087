package adapter

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// spec is an adapter's file. The tag form names the form of a text, keys the form of the names
// in an object, and words lists the possible texts.
type spec struct {
	Name    string     `field:"name,required" form:"name"`
	Bin     string     `field:"bin" form:"program"`
	Tested  []string   `field:"tested"`
	Version []string   `field:"version"`
	Help    [][]string `field:"help"`
	Flags   []string   `field:"flags" form:"flag"`

	Argv     []argument `field:"argv,required"`
	Profiles struct {
		ReadOnly map[string]string `field:"readonly,required" keys:"own"`
		Report   map[string]string `field:"report,required" keys:"own"`
		// Edit is nil for an adapter that cannot run agents that edit.
		Edit map[string]string `field:"edit" keys:"own"`
	} `field:"profiles"`
	Web struct {
		Off map[string]string `field:"off,required" keys:"own"`
		On  map[string]string `field:"on,required" keys:"own"`
	} `field:"web"`
	Refuse map[string]finder `field:"refuse" keys:"spawn"`
	Prompt string            `field:"prompt,required" words:"stdin,file"`
	EnvSet map[string]string `field:"env_set" keys:"variable"`
	// EnvPass are variables to inherit.
	EnvPass []string `field:"env_pass" form:"variable"`
	// StateDirEnv are variables that move the CLI's state to Values.StateDir. If there are
	// Credentials, the variables are set only if one of those is set. Otherwise the user has
	// logged in, and the login is in the CLI's default place.
	StateDirEnv []string       `field:"state_dir_env" form:"variable"`
	Credentials []string       `field:"credentials" form:"variable"`
	Files       map[string]any `field:"files" keys:"inside"`
	// Sandbox lists the needs of the CLI if we confine it.
	Sandbox struct {
		// Hosts are the hosts of its API, and URLs the variables with URLs of other hosts.
		Hosts []string `field:"hosts"`
		URLs  []string `field:"urls" form:"variable"`
		// State has the places of the user's login and settings.
		State []state `field:"state"`
		// Checkout are paths in the project's checkout that the CLI must be able to read even
		// if it runs in another working tree.
		Checkout []string `field:"checkout" form:"inside"`
		// Off replaces placeholders so that the CLI's own sandbox is off, since it cannot be
		// set up within ours.
		Off map[string]string `field:"off" keys:"own"`
	} `field:"sandbox"`
	// Forbidden are paths below Values.WorkDir of repository settings, such as hooks, that
	// cannot be disabled.
	Forbidden []string `field:"forbidden" form:"inside"`

	Output      string     `field:"output,required" words:"json,text"`
	SearchTools []string   `field:"search_tools"`
	Done        []where    `field:"done"`
	Result      []textRule `field:"result"`
	Model       []textRule `field:"model"`
	Session     []textRule `field:"session"`
	Tools       []rule     `field:"tools"`
	Denials     []rule     `field:"denials"`
	Notes       []rule     `field:"notes"`
	Usage       struct {
		In     []numberRule `field:"in"`
		Out    []numberRule `field:"out"`
		Cached []numberRule `field:"cached"`
	} `field:"usage"`
	Cost     []numberRule `field:"cost"`
	Progress []numberRule `field:"progress"`
	// Transcript finds more parts to show to a person than Result, Tools, Notes and Error:
	// messages, and the inputs and outputs of tools in the order of Tools. Skip selects events
	// that are not shown.
	Transcript struct {
		Text   []rule  `field:"text"`
		Input  []rule  `field:"input"`
		Output []rule  `field:"output"`
		Skip   []where `field:"skip"`
	} `field:"transcript"`

	Error []errorRule `field:"error"`
	// Resets find the end of a usage limit.
	Resets  []resetRule `field:"resets"`
	Classes []classRule `field:"classes"`
	// Silent classifies a run that failed without an event by its standard error, if Classes
	// do not match.
	Silent []classRule     `field:"silent"`
	Exits  map[string]exit `field:"exits" keys:"exit"`
	// StderrStatus finds the last HTTP status in standard error, for an error in the output
	// that has no status.
	StderrStatus groupFinder `field:"stderr_status"`
}

// state is a file or directory with a user's login and settings for a CLI.
type state struct {
	// Variable is the variable that moves it, or "". Home is its default path below the home
	// directory, "" for the home directory itself.
	Variable string `field:"variable" form:"variable"`
	Home     string `field:"home" form:"inside"`
	// Below is the part of the path after the value of the variable.
	Below string `field:"below" form:"inside"`
	// Protect are paths in it with which the CLI runs commands in other sessions.
	Protect []string `field:"protect" form:"inside"`
}

// schema decodes JSON values by the types and tags of spec, and collects all problems.
type schema struct{ problems []string }

// note adds a problem at a JSON Pointer (RFC 6901) into the file.
func (s *schema) note(at, format string, args ...any) {
	s.problems = append(s.problems, cmp.Or(at, "the file")+" "+fmt.Sprintf(format, args...))
}

// err returns the problems in the order of their paths, in the detail "problems". A single
// one is also in the message.
func (s *schema) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	slices.Sort(s.problems)
	text := s.problems[0]
	if n := len(s.problems); n > 1 {
		text = fmt.Sprintf("it has %d problems", n)
	}
	return errs.New(errs.AdapterInvalid, "the adapter is invalid: %s", text).With("problems", s.problems)
}

// under is the pointer of a member or element.
func under(at, name string) string {
	return at + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// decode decodes the value at a pointer into the variable to.
func (s *schema) decode(at string, from any, to reflect.Value, tag reflect.StructTag) {
	switch leaf := to.Addr().Interface().(type) {
	case interface{ parse(text string) error }:
		text, ok := from.(string)
		if err := leaf.parse(text); err != nil {
			s.note(at, "%v", err)
		} else if !ok {
			s.note(at, "must be a text")
		}
		return
	case *paths:
		if _, ok := from.(string); ok {
			*leaf = make(paths, 1)
			s.decode(at, from, reflect.ValueOf(&(*leaf)[0]).Elem(), "")
			return
		}
		if list, ok := from.([]any); ok && len(list) == 0 {
			s.note(at, "must be a path or a list of paths")
		}
	case *argument:
		list, ok := from.([]any)
		if leaf.group = ok; !ok {
			leaf.texts = []string{""}
			s.decode(at, from, reflect.ValueOf(&leaf.texts[0]).Elem(), "")
			return
		}
		if len(list) == 0 {
			s.note(at, "must not be empty")
		}
		to = reflect.ValueOf(&leaf.texts).Elem()
	case *exit:
		n, ok := from.(float64)
		if !ok {
			s.decode(at, from, reflect.ValueOf(&leaf.class).Elem(), `form:"class"`)
		} else if leaf.status = status(fmt.Sprint(n)); leaf.status == 0 {
			s.note(at, "must be an HTTP status from 400 to 599, or a class")
		}
		return
	}
	switch to.Kind() {
	case reflect.String:
		text, ok := from.(string)
		to.SetString(text)
		if problem := problemOf(text, tag); problem != "" {
			s.note(at, "%s", problem)
		} else if !ok {
			s.note(at, "must be a text")
		}
	case reflect.Slice:
		list, ok := from.([]any)
		if !ok {
			s.note(at, "must be a list")
		}
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
		for i, element := range list {
			s.decode(under(at, strconv.Itoa(i)), element, to.Index(i), tag)
		}
	case reflect.Map:
		to.Set(reflect.MakeMap(to.Type()))
		for name, member := range s.members(at, from) {
			if problem := forms[tag.Get("keys")](name); problem != "" {
				s.note(under(at, name), "must have a name that is %s", problem)
			}
			v := reflect.New(to.Type().Elem()).Elem()
			s.decode(under(at, name), member, v, "")
			to.SetMapIndex(reflect.ValueOf(name), v)
		}
	case reflect.Struct:
		s.object(at, from, to)
	default: // any
		if from != nil {
			to.Set(reflect.ValueOf(from))
		}
	}
}

func (s *schema) members(at string, from any) map[string]any {
	members, ok := from.(map[string]any)
	if !ok {
		s.note(at, "must be an object")
	}
	return members
}

func (s *schema) object(at string, from any, to reflect.Value) {
	members := s.members(at, from)
	known := map[string]bool{}
	for _, field := range reflect.VisibleFields(to.Type()) {
		if field.Anonymous {
			continue
		}
		name, required, _ := strings.Cut(field.Tag.Get("field"), ",")
		known[name] = true
		if member, ok := members[name]; ok {
			s.decode(under(at, name), member, to.FieldByIndex(field.Index), field.Tag)
		} else if required != "" && members != nil {
			s.note(under(at, name), "is missing")
		}
	}
	for name := range members {
		if !known[name] {
			s.note(under(at, name), "is unknown; known here: %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
}

// problemOf returns the requirement of its tag that a text does not meet, or "".
func problemOf(text string, tag reflect.StructTag) string {
	if words := tag.Get("words"); words != "" && !slices.Contains(strings.Split(words, ","), text) {
		return "must be one of " + strings.ReplaceAll(words, ",", ", ")
	}
	if form := tag.Get("form"); form != "" {
		if problem := forms[form](text); problem != "" {
			return "must be " + problem
		}
	}
	return ""
}

// forms return "" for a text that has the form, and otherwise a description of the form.
var forms = map[string]func(text string) string{
	"name":     matches(`^[a-z][a-z0-9-]*$`, 32, "1 to 32 lower-case letters, digits and dashes"),
	"variable": matches(`^[A-Za-z_][A-Za-z0-9_]*$`, 128, "the name of a variable"),
	"flag":     matches(`^-{1,2}[A-Za-z0-9][A-Za-z0-9-]*$`, maxFile, "a flag, such as --model"),
	"exit":     matches(`^([1-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$`, 3, "an exit code from 1 to 255"),
	"own": func(text string) string {
		if _, taken := (Values{}).named()[text]; taken {
			return "not taken by what each spawn brings"
		}
		return ownName(text)
	},
	"spawn": func(text string) string {
		names := (Values{}).named()
		if _, ok := names[text]; ok {
			return ""
		}
		return "one of " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
	},
	"program": func(text string) string {
		if text != "" && filepath.Base(text) == text && text != "." && text != ".." {
			return ""
		}
		return "the name of a program, not a path"
	},
	"inside": func(text string) string {
		if filepath.IsLocal(text) && text != "." {
			return ""
		}
		return "a path inside the directory"
	},
	"class": func(text string) string {
		classes := outcome.Classes()
		classes = slices.DeleteFunc(classes, func(c outcome.Class) bool { return c == outcome.Lost }) // no output says it
		if slices.Contains(classes, outcome.Class(text)) {
			return ""
		}
		return "one of " + strings.Join(textutil.Strings(classes), ", ")
	},
}

var ownName = matches(`^[a-z_]+$`, 32, "1 to 32 lower-case letters and _")

// matches returns a form with a regular expression and a length of at most limit bytes. A
// counted repetition in the expression would be slow to compile.
func matches(form string, limit int, described string) func(string) string {
	compiled := lazy.Regexp(form)
	return func(text string) string {
		if len(text) <= limit && compiled().MatchString(text) {
			return ""
		}
		return described
	}
}

// finder is a regular expression (RE2), groupFinder one that finds the text of its first
// group, and wholeFinder one for a whole text.
type (
	finder      struct{ *regexp.Regexp }
	groupFinder struct{ *regexp.Regexp }
	wholeFinder struct{ *regexp.Regexp }
)

func (f *finder) parse(text string) (err error) {
	if f.Regexp, err = regexp.Compile(text); err != nil {
		f.Regexp = new(regexp.Regexp) // Its field is set.
		return fmt.Errorf("is not a regular expression: %w", err)
	}
	return nil
}

func (f *groupFinder) parse(text string) error {
	err := (*finder)(f).parse(text)
	if err == nil && f.NumSubexp() < 1 {
		err = fmt.Errorf("needs a group for the text that it finds")
	}
	return err
}

func (f *wholeFinder) parse(text string) error {
	if err := (*finder)(f).parse(text); err != nil {
		return err
	}
	return (*finder)(f).parse(`^(?:` + text + `)$`)
}

// argument is one argument, or a group that is omitted if one of its placeholders is empty.
type argument struct {
	texts []string
	group bool
}

// exit is the meaning of an exit code: an HTTP status or a class.
type exit struct {
	status int
	class  outcome.Class
}
