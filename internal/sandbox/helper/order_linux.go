//go:build amd64 || arm64

// Package helper is the part of package sandbox that runs in a process of its own, and
// confines it. What the rules are, package sandbox decides; the helper makes the system
// calls.
//
// It imports nothing but package syscall. Go initializes a package after its imports and
// the packages whose paths come first in the alphabet, which in a large program takes
// several times as long as all that the helper does.
package helper

// Name is the name by which this program calls itself as the helper.
const Name = "switchyard-sandbox"

// Order is what the helper is asked to do, on its control socket.
type Order struct {
	Path      string
	Args, Env []string
	Dir       string
	// Capabilities are those that remain, one a bit.
	Capabilities uint64
	// Ruleset is a struct landlock_ruleset_attr, and Files and Ports are what it allows.
	// PortAccess are the rights to the ports.
	Ruleset    []byte
	Files      []FileRule
	Ports      []uint64
	PortAccess uint64
	// Filter is a program for seccomp, an array of struct sock_filter.
	Filter []byte
	Limits []Limit
	// Namespaces says that the helper is the first process of its namespaces. The rest is
	// for them.
	Namespaces bool
	// Writable are the paths on which file systems are not made read-only, and Protected the
	// paths below that are.
	Writable, Protected []string
	// MaxPID is for /proc/sys/kernel/pid_max; "" leaves it.
	MaxPID string
	// Listen are the ports to listen on.
	Listen []uint64
}

// FileRule allows access to a file, or to a folder with all below it. A path that does not
// exist or that is a symbolic link is ignored.
type FileRule struct {
	Path string
	// Folder are Landlock's rights if the path is a folder, and File those if it is not. With
	// no right there is no rule.
	Folder, File uint64
}

// Limit is a limit of the kernel for one process and what it starts.
type Limit struct{ Resource, Value uint64 }

// Encode returns the order as the helper reads it.
func (o *Order) Encode() []byte {
	var c coder
	o.code(&c)
	return c.text
}

// decode reads an encoded order, and reports whether it is one.
func (o *Order) decode(text []byte) bool {
	c := coder{text: text, decodes: true}
	o.code(&c)
	return !c.short && len(c.text) == 0
}

// code encodes or decodes the fields.
func (o *Order) code(c *coder) {
	c.string(&o.Path)
	each(c, &o.Args, c.string)
	each(c, &o.Env, c.string)
	c.string(&o.Dir)
	c.number(&o.Capabilities)
	c.bytes(&o.Ruleset)
	each(c, &o.Files, func(r *FileRule) {
		c.string(&r.Path)
		c.number(&r.Folder)
		c.number(&r.File)
	})
	each(c, &o.Ports, c.number)
	c.number(&o.PortAccess)
	c.bytes(&o.Filter)
	each(c, &o.Limits, func(l *Limit) {
		c.number(&l.Resource)
		c.number(&l.Value)
	})
	namespaces := uint64(0)
	if o.Namespaces {
		namespaces = 1
	}
	c.number(&namespaces)
	o.Namespaces = namespaces == 1
	each(c, &o.Writable, c.string)
	each(c, &o.Protected, c.string)
	c.string(&o.MaxPID)
	each(c, &o.Listen, c.number)
}

// coder encodes values to text, or decodes them from it.
type coder struct {
	text    []byte
	decodes bool
	// short is set if the text ended too soon.
	short bool
}

// number codes a number, as eight bytes.
func (c *coder) number(n *uint64) {
	if !c.decodes {
		for i := range 8 {
			c.text = append(c.text, byte(*n>>(8*i)))
		}
		return
	}
	*n = 0
	for i, b := range c.take(8) {
		*n |= uint64(b) << (8 * i)
	}
}

// bytes codes bytes, after their number.
func (c *coder) bytes(b *[]byte) {
	length := uint64(len(*b))
	c.number(&length)
	if !c.decodes {
		c.text = append(c.text, *b...)
		return
	}
	*b = c.take(length)
}

func (c *coder) string(s *string) {
	b := []byte(*s)
	c.bytes(&b)
	*s = string(b)
}

// take takes the next n bytes of the text, none if it is shorter.
func (c *coder) take(n uint64) []byte {
	if n > uint64(len(c.text)) {
		c.short, c.text = true, nil
		return nil
	}
	taken := c.text[:n:n]
	c.text = c.text[n:]
	return taken
}

// each codes a list, after its length.
func each[T any](c *coder, list *[]T, item func(*T)) {
	length := uint64(len(*list))
	c.number(&length)
	if c.decodes {
		if length > uint64(len(c.text)) { // An item has at least a byte.
			c.short = true
			return
		}
		*list = make([]T, length)
	}
	for i := range *list {
		item(&(*list)[i])
	}
}

// Answer begins what the helper answers, after the descriptors of the listeners. A text
// follows, unless it is Started.
type Answer byte

// The answers. Without namespaces the helper answers only if it fails.
const (
	Started Answer = 's'
	// Failed says that the process cannot be confined, Unavailable that the system does not
	// offer what the level needs, and NotStarted that the program cannot be run.
	Failed      Answer = 'f'
	Unavailable Answer = 'u'
	NotStarted  Answer = 'n'
)
