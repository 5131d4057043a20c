// Command pack writes the archive of worker sources that the assay program
// embeds: pack SOURCE ARCHIVE.
package main

import (
	"bytes"
	"fmt"
	"os"

	"assay/internal/build"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack SOURCE ARCHIVE")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack writes only what changed, so that an unchanged archive does not make
// the program be linked anew.
func pack(source, archive string) error {
	var data bytes.Buffer
	if err := build.Pack(&data, build.Source{Dir: source}); err != nil {
		return err
	}
	old, err := os.ReadFile(archive)
	if err == nil && bytes.Equal(old, data.Bytes()) {
		return nil
	}
	return os.WriteFile(archive, data.Bytes(), 0o644)
}
