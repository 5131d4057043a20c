package sqlite

import (
	"net/url"
	"strings"
)

// Pragma is the SQL that sets a setting on a connection.
func Pragma(name, value string) string { return "PRAGMA " + name + " = " + Spell(name, value) }

// IsWord reports whether a name can be a PRAGMA's.
func IsWord(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// EscapePath makes a path fit for a file: URI.
func EscapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }
