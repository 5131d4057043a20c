package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay/kit/sqlite"
	"assay/kit/wire"
)

// keep fills a database in memory that several connections share. It is there
// as long as a connection to it is open.
func (d *database) keep(c *connector) error {
	if !c.memory || !c.shared {
		return nil
	}
	d.keeper = sql.OpenDB(c)
	d.keeper.SetMaxOpenConns(1)
	conn, err := d.keeper.Conn(context.Background())
	if err != nil {
		return fmt.Errorf("open a connection: %w", err)
	}
	err = sharing(conn)
	if err == nil {
		err = c.fill(conn)
	}
	return errors.Join(err, conn.Close())
}

// sharing refuses SQLite before 3.36: each connection through its memdb has a
// database of its own.
func sharing(conn *sql.Conn) error {
	var version string
	if err := conn.QueryRowContext(context.Background(), "SELECT sqlite_version()").Scan(&version); err != nil {
		return fmt.Errorf("sqlite_version: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major < 3 || major == 3 && minor < 36 {
		return wire.Errorf(wire.Unsupported, "SQLite %s has no database in memory that connections share", version)
	}
	return nil
}

// fill copies the prepared file into a connection's database in memory.
func (c *connector) fill(memory *sql.Conn) error {
	file, err := c.driver.prover().Plain("file:" + sqlite.EscapePath(c.path))
	if err != nil {
		return err
	}
	return errors.Join(sqlite.Fill(plainConn{Conn: memory}, file, c.path, cmp.Or(c.driver.VFS, "unix")), file.Close())
}
