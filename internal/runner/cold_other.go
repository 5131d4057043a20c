//go:build unix && !linux

package runner

import "errors"

func dropFile(string) error {
	return errors.New("the page cache cannot be emptied for a file on this system")
}
