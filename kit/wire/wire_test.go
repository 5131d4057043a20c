package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// lines reads until the first error.
func lines(in io.Reader) ([]string, error) {
	r := NewReader(in)
	var all []string
	for {
		line, err := r.Line()
		if err != nil {
			return all, err
		}
		all = append(all, string(line))
	}
}

func TestLine(t *testing.T) {
	long := strings.Repeat("x", MaxLine-1)
	buffer := strings.Repeat("y", 64<<10)
	cases := map[string]struct {
		input string
		want  []string
		err   error
	}{
		"nothing":                     {"", nil, io.EOF},
		"one":                         {"a\n", []string{"a"}, io.EOF},
		"empty lines":                 {"\n\na\n", []string{"", "", "a"}, io.EOF},
		"a carriage return stays":     {"a\r\n", []string{"a\r"}, io.EOF},
		"no newline at the end":       {"a\nb", []string{"a"}, io.ErrUnexpectedEOF},
		"a buffer without its end":    {buffer, nil, io.ErrUnexpectedEOF},
		"as long as the buffer":       {buffer[1:] + "\n" + buffer + "\nz\n", []string{buffer[1:], buffer, "z"}, io.EOF},
		"the longest":                 {long + "\na\n", []string{long, "a"}, io.EOF},
		"the longest, no newline":     {long, nil, io.ErrUnexpectedEOF},
		"one byte too long":           {"a\n" + long + "x\na\n", []string{"a"}, ErrLine},
		"one byte too long, open end": {long + "xx", nil, ErrLine},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for kind, in := range map[string]io.Reader{
				"at once":   strings.NewReader(c.input),
				"in halves": iotest.HalfReader(strings.NewReader(c.input)),
			} {
				got, err := lines(in)
				if !errors.Is(err, c.err) || strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) {
					t.Errorf("%s: got %d lines and %v, want %d and %v", kind, len(got), err, len(c.want), c.err)
				}
			}
		})
	}
}

func TestLineTellsOtherErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	if got, err := lines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken))); !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, Envelope{"open", 7}); err != nil || out.String() != "{\"type\":\"open\",\"id\":7}\n" {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
	if err := Write(&out, func() {}); err == nil {
		t.Error("a function was written")
	}
	broken := errors.New("broken pipe")
	if err := Write(failing{broken}, 1); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestWriteLimit: what can be written can be read, up to the last byte.
func TestWriteLimit(t *testing.T) {
	quotes, newline := 2, 1
	longest := strings.Repeat("x", MaxLine-quotes-newline)
	var out bytes.Buffer
	if err := Write(&out, longest); err != nil || out.Len() != MaxLine {
		t.Fatalf("%d bytes, %v", out.Len(), err)
	}
	if got, err := lines(&out); !errors.Is(err, io.EOF) || len(got) != 1 || got[0] != `"`+longest+`"` {
		t.Errorf("read back %d lines, %v", len(got), err)
	}
	out.Reset()
	if err := Write(&out, longest+"x"); !errors.Is(err, ErrLine) || out.Len() != 0 {
		t.Errorf("one byte more: wrote %d bytes, %v", out.Len(), err)
	}
}

func TestErrorf(t *testing.T) {
	want := Error{Code: Invalid, Definite: true, Message: "start 7"}
	if got := Errorf(Invalid, "start %d", 7); *got != want || got.Error() != "start 7" {
		t.Errorf("got %+v", *got)
	}
	if text := fmt.Sprint(Errorf(Failed, "x")); text != "x" {
		t.Errorf("printed as %q", text)
	}
}

// FuzzLine: the lines are the input cut at its newlines, however it arrives.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{"", "\n", "a\nb\n", "a\nb", "\xff\x00\n\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := strings.SplitAfter(string(data), "\n")
		last := want[len(want)-1]
		end := io.EOF
		if last != "" {
			end = io.ErrUnexpectedEOF
		}
		got, err := lines(iotest.OneByteReader(bytes.NewReader(data)))
		if !errors.Is(err, end) || len(got) != len(want)-1 {
			t.Fatalf("%d lines and %v, want %d and %v", len(got), err, len(want)-1, end)
		}
		for i, line := range got {
			if line+"\n" != want[i] {
				t.Errorf("line %d: %q, want %q", i, line, want[i])
			}
		}
	})
}
