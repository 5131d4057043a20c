package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"assay/kit/opening"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// connector opens connections with the settings of a profile.
type connector struct {
	driver Driver
	driver.Connector
	request     wire.Open
	source      *opening.Source
	shared      bool         // by several connections
	connections atomic.Int64 // opened so far
}

// connect maps settings to the driver's DSN and to PRAGMAs.
func connect(d Driver, request wire.Open) (*connector, error) {
	c := &connector{driver: d, request: request,
		// A connection that does not stay open would take its database with it.
		shared: request.Readers+request.Writers > 1 || request.Idle < request.Readers}
	var err error
	if d.Other != nil {
		c.source, err = d.Other.source(request)
		return c, err
	}
	if request.DSN != "" {
		request.Settings = nil // it has them
	}
	c.source, err = opening.NewSource(request, sqlite.MemoryDSN(c.shared), d.send)
	return c, err
}

func (d Driver) send(name, value string) (parameter, otherwise string, err error) {
	if name == wire.Begin {
		return "_txlock=" + value, "", nil
	}
	if d.Key != nil {
		parameter = d.Key(name, sqlite.Spell(name, value))
	}
	if setting, known := sqlite.Lookup(name); parameter == "" && known && !setting.Pragma {
		return "", "", wire.Errorf(wire.Unsupported, "driver %s has no way to set %s to %q", d.Name, name, value)
	}
	return parameter, "", nil
}

func (c *connector) resolve() error {
	db, err := sql.Open(c.driver.SQLName, c.source.DSN)
	if err != nil {
		return fmt.Errorf("open %s: %w", c.source.DSN, err)
	}
	defer db.Close()
	if with, ok := db.Driver().(driver.DriverContext); ok {
		c.Connector, err = with.OpenConnector(c.source.DSN)
		return err
	}
	c.Connector = plain{db.Driver(), c.source.DSN}
	return nil
}

// Connect opens a connection and runs the profile's SQL on it.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range c.source.Each {
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
