// Package opening is how a database of SQLite is opened with the settings of a request,
// and how they are read back.
package opening

import (
	"cmp"
	"errors"
	"runtime"
	"strings"

	"assay/kit/proof"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// Source is how a request's settings are given to a driver of SQLite.
type Source struct {
	wire.Opened
	Memory bool // the content of the prepared file is in memory
}

// Send gives a setting to a driver in the driver's own way: by a parameter of its
// DSN, or by what it calls otherwise. Where both are empty it is a PRAGMA.
type Send func(name, value string) (parameter, otherwise string, err error)

// NewSource maps settings to parameters of a DSN and to PRAGMAs. The busy timeout
// comes first, so that the other settings can wait for locks. The DSN of databases
// in memory is the driver's.
func NewSource(request wire.Open, memory string, send Send) (*Source, error) {
	s := &Source{Memory: request.DSN == "" && request.Settings["memory"] == "1"}
	s.DSN, s.Issued = "file:"+sqlite.EscapePath(request.Path), map[string]string{}
	if s.Memory {
		s.DSN = memory
	}
	for _, name := range sqlite.InOrder(request.Settings) {
		if err := s.issue(name, request.Settings[name], send); err != nil {
			return nil, err
		}
	}
	s.DSN = cmp.Or(request.DSN, s.DSN)
	s.Each = append(s.Each, request.Each...)
	return s, nil
}

func (s *Source) issue(name, value string, send Send) error {
	if name == "memory" {
		s.Issued[name] = map[bool]string{true: "a copy in memory", false: "the file"}[s.Memory]
		return nil
	}
	parameter, otherwise := sqlite.URIParameter(name, value), ""
	if parameter != "" && s.Memory {
		return wire.Errorf(wire.Unsupported, "a database in memory is not opened with %s", parameter)
	}
	if parameter == "" {
		var err error
		if parameter, otherwise, err = send(name, value); err != nil {
			return err
		}
	}
	s.Issued[name] = parameter + otherwise
	switch {
	case parameter != "" && strings.Contains(s.DSN, "?"):
		s.DSN += "&" + parameter
	case parameter != "":
		s.DSN += "?" + parameter
	case otherwise == "":
		s.Issued[name] = sqlite.Pragma(name, value)
		s.Each = append(s.Each, s.Issued[name])
	}
	return nil
}

// Fill copies the prepared file into a connection's database in memory.
func Fill(memory sqlite.Conn, d proof.Driver, path, vfs string) error {
	file, err := d.Plain("file:" + sqlite.EscapePath(path))
	if err != nil {
		return err
	}
	if vfs == "" {
		vfs = map[bool]string{true: "win32", false: "unix"}[runtime.GOOS == "windows"]
	}
	return errors.Join(sqlite.Fill(memory, file, path, vfs), file.Close())
}

// Settings reads settings of a connection to SQLite back.
type Settings struct {
	Proof *proof.Proof
	Conn  sqlite.Conn
	// Begin begins a transaction, as asked for, and Rollback ends it.
	Begin, Rollback func() error
	// Mutex is the driver's own proof; nil where there is none but PRAGMA mutex, which SQLite has not.
	Mutex func() (mode string, known bool)
}

// Read returns what a PRAGMA shows of a setting, or what behaviour shows of those
// that have none; false where nothing is known: a PRAGMA that SQLite does not know
// answers no row.
func (s Settings) Read(name string) (string, bool, error) {
	switch {
	case name == wire.Begin:
		return s.Proof.Begin(s.Begin, s.Rollback)
	case proof.Proves(name):
		return s.Proof.Setting(s.Conn, name)
	case name == "mutex" && s.Mutex != nil:
		mode, known := s.Mutex()
		return mode, known, nil
	case !sqlite.IsWord(name):
		return "", false, wire.Errorf(wire.Invalid, "%q is not a setting", name)
	}
	answer, err := s.Conn.Texts("PRAGMA " + name)
	if err != nil || len(answer) == 0 || len(answer[0]) == 0 {
		return "", false, err
	}
	return answer[0][0], true, nil
}
