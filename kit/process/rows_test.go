//go:build unix

package process

import (
	"fmt"
	"os"
	"testing"
)

// Rows are read as they are stored, each with its unit and step; a file that ends
// within one is an error, and so is a value of no known tag.
func TestRowsFile(t *testing.T) {
	unit := "\x07\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"
	row := "\x02\x00\x00\x00\x05\x00\x00\x00" + "\x00" + "\x01\xff\xff\xff\xff\xff\xff\xff\xff" + "\x02\x00\x00\x00\x00\x00\x00\xf8\x3f" +
		"\x03\x02\x00\x00\x00\xc3\xbc" + "\x04\x01\x00\x00\x00\x00"
	read := func(content string) (found []string, err error) {
		file, err := newRowsFile(t.TempDir())
		must(t, err)
		defer file.remove()
		must(t, os.WriteFile(file.Name(), []byte(content), 0o600))
		err = file.each(t.Context(), 5, func(unit unitRows, each eachRow) error {
			return each(func(step int, row []any) error {
				found = append(found, fmt.Sprintf("%v %d %#v", unit, step, row))
				return nil
			})
		})
		return found, err
	}
	one := `{7 1 1} 2 []interface {}{interface {}(nil), -1, 1.5, "ü", []uint8{0x0}}`
	empty := "\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	if got, err := read(unit + row + empty + unit + row); err != nil || fmt.Sprint(got) != fmt.Sprint([]string{one, one}) {
		t.Errorf("got %v, %v, want %s twice", got, err, one)
	}
	for end := 1; end < len(unit+row); end++ {
		if got, err := read((unit + row)[:end]); err == nil || len(got) > 0 {
			t.Errorf("a file of %d bytes: got %v, %v, want an error", end, got, err)
		}
	}
	if _, err := read(unit + "\x00\x00\x00\x00\x01\x00\x00\x00\x05"); err == nil {
		t.Error("the tag 5: want an error")
	}
	for name, content := range map[string]string{
		"more columns than declared":  unit + "\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"a text longer than the file": unit + "\x00\x00\x00\x00\x01\x00\x00\x00\x03\xff\xff\xff\xff...",
	} {
		if got, err := read(content); err == nil || len(got) > 0 {
			t.Errorf("%s: got %v, %v, want an error", name, got, err)
		}
	}
}
