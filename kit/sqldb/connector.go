package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"assay/kit/sqlite"
	"assay/kit/wire"
)

// connector opens connections with the settings of a profile.
type connector struct {
	driver Driver
	driver.Connector
	dsn         string
	each        []string
	issued      map[string]string
	path        string       // of the prepared file
	memory      bool         // its content is in memory
	shared      bool         // by several connections
	connections atomic.Int64 // opened so far
}

// connect maps settings to the driver's DSN and to PRAGMAs. The busy timeout
// comes first, so that the other settings can wait for locks.
func connect(d Driver, request wire.Open) (*connector, error) {
	c := &connector{driver: d, dsn: request.DSN, issued: map[string]string{}, path: request.Path,
		memory: request.DSN == "" && request.Settings["memory"] == "1",
		// A connection that does not stay open would take its database with it.
		shared: request.Readers+request.Writers > 1 || request.Idle < request.Readers}
	if c.dsn == "" {
		if err := c.build(request); err != nil {
			return nil, err
		}
	}
	c.each = append(c.each, request.Each...)
	return c, nil
}

func (c *connector) build(request wire.Open) error {
	var keys []string
	for _, name := range sqlite.InOrder(request.Settings) {
		key, err := c.setting(name, request.Settings[name])
		if err != nil {
			return err
		}
		if key != "" {
			keys = append(keys, key)
		}
	}
	switch {
	case c.memory && c.shared:
		c.dsn = sqlite.MemoryDSN(2)
	case c.memory:
		c.dsn = "file::memory:" // ncruces takes :memory:?_pragma=... for the name of a file
	default:
		c.dsn = "file:" + sqlite.EscapePath(request.Path)
	}
	if len(keys) > 0 {
		join := "?"
		if strings.Contains(c.dsn, "?") {
			join = "&"
		}
		c.dsn += join + strings.Join(keys, "&")
	}
	return nil
}

// setting issues one setting: by a parameter of the DSN, which it returns, or
// by SQL for every new connection.
func (c *connector) setting(name, value string) (key string, err error) {
	if name == wire.Begin {
		c.issued[name] = "_txlock=" + value
		return c.issued[name], nil
	}
	if name == "memory" {
		c.issued[name] = map[bool]string{true: "a copy in memory", false: "the file"}[c.memory]
		return "", nil
	}
	if key = sqlite.URIParameter(name, value); key != "" && c.memory {
		return "", wire.Errorf(wire.Unsupported, "a database in memory is not opened with %s", key)
	}
	if key == "" && c.driver.Key != nil {
		key = c.driver.Key(name, sqlite.Spell(name, value))
	}
	if key != "" {
		c.issued[name] = key
		return key, nil
	}
	if setting, known := sqlite.Lookup(name); known && !setting.Pragma {
		return "", wire.Errorf(wire.Unsupported, "driver %s has no way to set %s to %q", c.driver.Name, name, value)
	}
	c.issued[name] = sqlite.Pragma(name, value)
	c.each = append(c.each, c.issued[name])
	return "", nil
}

func (c *connector) opened() wire.Opened {
	return wire.Opened{DSN: c.dsn, Each: c.each, Issued: c.issued}
}

func (c *connector) resolve() error {
	db, err := sql.Open(c.driver.SQLName, c.dsn)
	if err != nil {
		return fmt.Errorf("open %s: %w", c.dsn, err)
	}
	defer db.Close()
	if with, ok := db.Driver().(driver.DriverContext); ok {
		c.Connector, err = with.OpenConnector(c.dsn)
		return err
	}
	c.Connector = plain{db.Driver(), c.dsn}
	return nil
}

// Connect opens a connection and runs the profile's SQL on it.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range c.each {
		if err := execute(ctx, conn, text); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", text, err), conn.Close())
		}
	}
	c.connections.Add(1)
	return conn, nil
}

// execute runs SQL on a driver's connection, reading rows where it has any.
func execute(ctx context.Context, conn driver.Conn, text string) error {
	statement, err := conn.Prepare(text)
	if err != nil {
		return err
	}
	defer statement.Close()
	var rows driver.Rows
	if with, ok := statement.(driver.StmtQueryContext); ok {
		rows, err = with.QueryContext(ctx, nil)
	} else {
		//lint:ignore SA1019 it is all that old drivers have
		rows, err = statement.Query(nil)
	}
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(values)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// plain is the connector of a driver that has none.
type plain struct {
	driver driver.Driver
	dsn    string
}

func (p plain) Connect(context.Context) (driver.Conn, error) { return p.driver.Open(p.dsn) }
func (p plain) Driver() driver.Driver                        { return p.driver }
