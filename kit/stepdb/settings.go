package stepdb

import (
	"cmp"
	"strings"

	"assay/kit"
	"assay/kit/proof"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// setup is a profile as it is given to the driver.
type setup struct {
	source Source
	memory bool
	each   []string // SQL for every connection
	issued map[string]string
}

// newSetup maps settings to the URI and to PRAGMAs.
func newSetup(d Driver, request wire.Open) (*setup, error) {
	s := &setup{issued: map[string]string{}}
	_, begins := request.Settings[wire.Begin] // which is none of the connection
	s.source.Unasked = len(request.Settings) == 0 || begins && len(request.Settings) == 1
	s.source.URI = "file:" + sqlite.EscapePath(request.Path)
	separator := "?"
	for _, name := range sqlite.InOrder(request.Settings) {
		value := request.Settings[name]
		if d.Lacks != nil && d.Lacks(name, value) {
			return nil, wire.Errorf(wire.Unsupported, "driver %s has no way to set %s to %q", d.Name, name, value)
		}
		if parameter := sqlite.URIParameter(name, value); parameter != "" {
			if request.DSN == "" && request.Settings["memory"] == "1" {
				return nil, wire.Errorf(wire.Unsupported, "a database in memory is not opened with %s", parameter)
			}
			s.issued[name] = parameter
			s.source.URI += separator + parameter
			separator = "&"
			continue
		}
		s.set(name, value)
	}
	switch {
	case s.memory:
		s.source.URI = d.memory(request.Readers + request.Writers)
		s.issued["memory"] = s.source.URI
	case request.DSN != "":
		s.source.URI = request.DSN
	}
	s.each = append(s.each, request.Each...)
	return s, nil
}

// set issues a setting that is no parameter of the URI.
func (s *setup) set(name, value string) {
	switch name {
	case "mutex":
		s.source.Mutex = value
		s.issued[name] = "open flag: mutex " + value
	case "memory":
		s.memory = value == "1"
	case wire.Begin:
		s.issued[name] = beginSQL(value)
	default:
		s.issued[name] = sqlite.Pragma(name, value)
		s.each = append(s.each, s.issued[name])
	}
}

// beginSQL begins a transaction.
func beginSQL(how string) string { return "BEGIN " + strings.ToUpper(how) }

// begin is the SQL that begins transactions.
func (d *database) begin() string {
	return beginSQL(cmp.Or(d.request.Settings[wire.Begin], "immediate"))
}

// Settings reads every setting on every connection, each with a PRAGMA on that
// connection. A setting that neither a PRAGMA nor a proof shows is absent.
func (d *database) Settings(names []string) ([]wire.Connection, error) {
	var connections []wire.Connection
	err := d.every(func(name string, _ bool, conn Conn) error {
		c, err := kit.ReadSettings(name, names, func(setting string) (string, bool, error) { return d.setting(conn, setting) })
		connections = append(connections, c)
		return err
	})
	return connections, err
}

// setting returns what a PRAGMA, a proof or the driver shows of a setting;
// false where nothing is known: a PRAGMA that SQLite does not know answers no
// row.
func (d *database) setting(conn Conn, name string) (string, bool, error) {
	switch {
	case name == "read_only":
		return d.readOnly(conn)
	case name == wire.Begin:
		return d.proof.Begin(func() error { return conn.Exec(d.begin()) }, func() error { return conn.Exec("ROLLBACK") })
	case proof.Proves(name):
		return d.proof.Setting(lent{conn}, name)
	case name == "mutex" && d.driver.Mutex == nil:
		return "", false, nil
	case name == "mutex":
		mode, known := d.driver.Mutex(conn)
		return mode, known, nil
	case !sqlite.IsWord(name):
		return "", false, wire.Errorf(wire.Invalid, "%q is not a setting", name)
	}
	answer, err := rows(conn, "PRAGMA "+name)
	if err != nil || len(answer) == 0 {
		return "", false, err
	}
	return answer[0][0], true, nil
}

// readOnly goes on where the proof cannot tell because the connection does not
// begin. In older SQLite (3.32) a read-only connection refuses that by its code,
// as others do with query_only only.
func (d *database) readOnly(conn Conn) (string, bool, error) {
	value, known, err := d.proof.Setting(lent{conn}, "read_only")
	if known || err != nil {
		return value, known, err
	}
	refused := conn.Exec("BEGIN IMMEDIATE")
	if refused == nil {
		return "", false, run(conn, "ROLLBACK")
	}
	if d.driver.Code(refused)&0xff != codeReadOnly {
		return "", false, nil
	}
	queryOnly, err := rows(conn, "PRAGMA query_only")
	if err != nil || len(queryOnly) == 0 || queryOnly[0][0] != "0" {
		return "", false, err
	}
	return "1", true, nil
}
