//go:build unix && !linux

package file

import "errors"

// DropPages fails: only Linux empties its page cache of one file.
func DropPages(string) error {
	return errors.New("the page cache cannot be emptied for a file on this system")
}
