package redact

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

const (
	// window is the number of bytes that Copy searches at a time. It is a multiple of the
	// margin, which is searched twice.
	window = 4 * margin
	// lookBehind is the number of bytes before a secret that may identify it as one.
	lookBehind = 64
)

// Copy copies r to w without secrets, as Text does, in constant memory. A secret may have any
// length, except for a private key, which ends after 64 KiB at the latest. A line that is a
// JSON object is a separate text: a key without an end does not hide the next line.
//
// # Errors
//
// Errors from r and w.
func Copy(w io.Writer, r io.Reader) error {
	s := copier{w: w}
	lines := bufio.NewReaderSize(r, margin)
	begins, object := true, false
	for {
		piece, err := lines.ReadSlice('\n')
		if begins && len(piece) > 0 {
			was := object
			if object = piece[0] == '{'; object || was {
				if err := s.flush(true); err != nil {
					return err
				}
			}
		}
		s.text = append(s.text, piece...)
		begins = err == nil
		switch {
		case err == io.EOF:
			return s.flush(true)
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
		if len(s.text) >= window {
			if err := s.flush(false); err != nil {
				return err
			}
		}
	}
}

type copier struct {
	w    io.Writer
	text []byte
	done int // the text before it has been copied, and only gives context
	open bool
	finder
}

// flush copies the text. Unless it is the last, its end stays for the next call, because a
// secret may begin there.
func (s *copier) flush(last bool) error {
	all := string(s.text)
	// A key without an end must not swallow this: the next object begins on its own line.
	text := strings.TrimSuffix(all, "\n")
	s.finder.text = text
	i, limit := s.done, len(text)
	if !last {
		limit -= margin
	}
	if s.open { // The last secret reached the end of the text.
		i = run(text, i, isToken)
		s.ended = i
	}
	copied := i
	for i < limit {
		found, ok := s.find(i)
		if !ok {
			i++
			continue
		}
		if _, err := io.WriteString(s.w, text[copied:found.start]+mark(found.kind)); err != nil {
			return err
		}
		i, copied, s.ended = found.end, found.end, found.end
	}
	if last {
		_, err := io.WriteString(s.w, all[copied:])
		*s = copier{w: s.w, text: s.text[:0]}
		return err
	}
	if _, err := io.WriteString(s.w, all[copied:i]); err != nil {
		return err
	}
	s.open = i == len(text)
	gone := max(0, i-lookBehind)
	s.text = s.text[:copy(s.text, all[gone:])]
	s.done, s.ended, s.tokenless = i-gone, s.ended-gone, s.tokenless-gone
	return nil
}
