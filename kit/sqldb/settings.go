package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"assay/kit"
	"assay/kit/proof"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// Settings reads every setting on every connection, each with a PRAGMA on
// that connection. A setting that no PRAGMA shows is proved, or absent.
func (d *database) Settings(names []string) ([]wire.Connection, error) {
	var connections []wire.Connection
	read := func(name string, conn *sql.Conn) error {
		c, err := kit.ReadSettings(name, names, func(setting string) (string, bool, error) { return d.readSetting(conn, setting) })
		connections = append(connections, c)
		return err
	}
	err := errors.Join(d.eachReader(read), d.writers.Each(read))
	return connections, err
}

// readSetting returns a PRAGMA's value, or what behaviour shows of settings
// that have none; false where nothing is known: a PRAGMA that SQLite does not
// know answers no row.
func (d *database) readSetting(conn *sql.Conn, name string) (string, bool, error) {
	switch {
	case name == wire.Begin:
		return d.begins(conn)
	case name == "mutex":
		return d.mutex(conn)
	case proof.Proves(name):
		return d.proof.Setting(plainConn{Conn: conn}, name)
	case !sqlite.IsWord(name):
		return "", false, wire.Errorf(wire.Invalid, "%q is not a setting", name)
	}
	var value string
	err := conn.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return value, err == nil, err
}

// mutex asks the driver's own proof, where the worker has one.
func (d *database) mutex(conn *sql.Conn) (value string, ok bool, err error) {
	if d.driver.Mutex == nil {
		return "", false, nil
	}
	err = conn.Raw(func(raw any) error {
		value, ok = d.driver.Mutex(raw)
		return nil
	})
	return value, ok, err
}

// begins finds out how the driver's own transactions begin.
func (d *database) begins(conn *sql.Conn) (value string, known bool, err error) {
	var tx *sql.Tx
	return d.proof.Begin(func() (err error) {
		tx, err = conn.BeginTx(context.Background(), nil)
		return err
	}, func() error { return tx.Rollback() })
}
