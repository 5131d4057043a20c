package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay/kit/proof"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// plainConn is a connection for what is not measured: proofs, and copies.
type plainConn struct {
	*sql.Conn
	done func() error // closes what the connection was opened for; may be nil
}

func (c plainConn) Exec(text string) error {
	if _, err := c.ExecContext(context.Background(), text); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

func (c plainConn) Texts(text string) ([][]string, error) {
	return query(c, text)
}

func (c plainConn) Close() error {
	if c.done == nil {
		return nil // it is lent
	}
	return errors.Join(c.Conn.Close(), c.done())
}

// single takes one connection of a pool of its own.
func single(db *sql.DB) (sqlite.Conn, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return plainConn{conn, db.Close}, nil
}

func (d Driver) prover() proof.Driver {
	return proof.Driver{
		Busy: d.Busy,
		Plain: func(dsn string) (sqlite.Conn, error) {
			db, err := sql.Open(d.SQLName, dsn)
			if err != nil {
				return nil, err
			}
			return single(db)
		},
		Tested: func(request wire.Open) (sqlite.Conn, error) {
			c, err := connect(d, request)
			if err == nil {
				err = c.resolve()
			}
			if err != nil {
				return nil, err
			}
			return single(sql.OpenDB(c))
		},
	}
}
