// Package plans embeds the built-in plans, in the YAML that users write.
package plans

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names returns the names of the built-in plans, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // cannot be: the directory is in the program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	slices.Sort(names) // "kv-large.yaml" comes before "kv.yaml"
	return names
}

// Read returns the text of a built-in plan; the second result is false where
// there is none of that name.
func Read(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}
