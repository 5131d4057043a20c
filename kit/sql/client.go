package sql

import (
	"context"
	"errors"
	"fmt"

	"assay/kit"
)

// client runs one operation after the other.
type client[C comparable] struct {
	o      *operation[C]
	number int
	// own is on the connection that the client keeps, while there are not more
	// clients than most; nil where it has none.
	own   *unit[C]
	most  int
	units map[C]*unit[C]
	last  *unit[C] // of the newest execution
	// visit is shown the rows of requests that are served; nil while measuring.
	visit func(step int, row []any) error
}

// Do runs one operation, or one transaction of several.
//
// From here to the driver there are few functions on purpose: between system calls, which
// leave the caches cold, a call of one costs 20 to 40 ns, and a point read 5 us.
func (c *client[C]) Do(position int) (int, error) {
	if c.own == nil || c.o.clients > c.most {
		return c.DoPhases(position, nil)
	}
	n, err := c.own.all(context.Background(), position, nil)
	if err != nil {
		err = c.o.db.mark(err)
	}
	return n, err
}

// DoPhases does the same and times the phases of each statement. To take a
// connection, to begin a transaction and to commit it are none of them.
func (c *client[C]) DoPhases(position int, phases *kit.Phases) (n int, err error) {
	u, err := c.take()
	if err != nil {
		return 0, err
	}
	if c.o.spec.Transaction > 0 {
		n, err = u.transaction(context.Background(), position, phases)
	} else {
		n, err = u.all(context.Background(), position, phases)
	}
	c.give(u)
	if err != nil {
		err = c.o.db.mark(err)
	}
	return n, err
}

func (c *client[C]) Close() error { return nil } // what is compiled is the operation's

// take takes a connection for one run of the operation.
func (c *client[C]) take() (*unit[C], error) {
	var conn C
	var err error
	switch {
	case c.o.spec.Changes:
		conn = <-c.o.db.writers
	case c.own != nil && c.o.clients <= c.most:
		return c.own, nil
	default:
		if conn, err = c.o.db.pool.Take(); err != nil {
			return nil, err
		}
	}
	if c.last != nil && c.last.conn == conn {
		return c.last, nil
	}
	u, err := c.unit(conn)
	if err != nil {
		c.put(conn)
		return nil, err
	}
	c.last = u
	return u, nil
}

// give returns what take gave.
func (c *client[C]) give(u *unit[C]) {
	if c.own == nil || c.o.clients > c.most {
		c.put(u.conn)
	}
}

func (c *client[C]) put(conn C) {
	if c.o.spec.Changes {
		c.o.db.writers <- conn
	} else {
		c.o.db.pool.Put(conn)
	}
}

// unit returns the client's room for the operation on a connection.
func (c *client[C]) unit(conn C) (*unit[C], error) {
	if u := c.units[conn]; u != nil {
		return u, nil
	}
	compiled, err := c.o.compiledOn(conn)
	if err != nil {
		return nil, err
	}
	u := &unit[C]{c: c, conn: conn}
	if u.steps, err = c.o.stmts(conn, c.o.steps, compiled); err != nil {
		return nil, err
	}
	if u.around, err = c.o.stmts(conn, c.o.around, compiled); err != nil {
		return nil, err
	}
	for i := range u.steps {
		u.shows = append(u.shows, func(row []any) error { return c.visit(i, row) })
	}
	c.units[conn] = u
	return u, nil
}

func (o *operation[C]) stmts(conn C, steps []Step, compiled map[string]Compiled) ([]Stmt, error) {
	var all []Stmt
	for _, step := range steps {
		stmt, err := o.db.api.Stmt(conn, step, compiled[step.SQL])
		if err != nil {
			return nil, err
		}
		all = append(all, stmt)
	}
	return all, nil
}

// unit is what a client runs on one connection: the steps, in a transaction where
// there is one.
type unit[C comparable] struct {
	c      *client[C]
	conn   C
	steps  []Stmt
	around []Stmt              // begin and commit
	shows  []func([]any) error // client.visit for each step
}

func (u *unit[C]) all(ctx context.Context, position int, phases *kit.Phases) (int, error) {
	total := 0
	for i, step := range u.steps {
		var visit func([]any) error
		if u.c.visit != nil {
			visit = u.shows[i]
		}
		n, err := step.Do(ctx, position, visit, phases)
		total += n
		if err != nil && i > 0 {
			err = laterStep{err}
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (u *unit[C]) transaction(ctx context.Context, position int, phases *kit.Phases) (int, error) {
	if _, err := u.around[0].Do(ctx, 0, nil, nil); err != nil {
		return 0, fmt.Errorf("%s: %w", u.c.o.around[0].SQL, err)
	}
	total, size := 0, u.c.o.spec.Transaction
	for i := range size {
		n, err := u.all(ctx, position*size+i, phases)
		total += n
		if err != nil {
			return 0, u.rollback(u.c.o.db.stale(i, err))
		}
	}
	if _, err := u.around[1].Do(ctx, 0, nil, nil); err != nil {
		return 0, u.rollback(fmt.Errorf("COMMIT: %w", err))
	}
	return total, nil
}

func (u *unit[C]) rollback(cause error) error {
	if err := u.c.o.db.api.Rollback(u.conn); err != nil {
		return errors.Join(cause, fmt.Errorf("ROLLBACK: %w", err))
	}
	return cause
}

// Show returns a client on the same connections that shows what it reads.
func (c *client[C]) Show(visit func(int, []any) error) (kit.Client, error) {
	shown, err := c.o.newClient(c.number)
	return &showing[C]{shown, visit}, err
}

// showing is a client that shows values as they are stored.
type showing[C comparable] struct {
	*client[C]
	visit func(step int, row []any) error
}

func (s *showing[C]) Do(position int) (int, error) {
	u, err := s.take()
	if err != nil {
		return 0, err
	}
	defer s.give(u)
	total := 0
	for i, step := range u.steps {
		n, err := step.Show(position, func(row []any) error { return s.visit(i, row) })
		total += n
		if err != nil {
			return total, s.o.db.mark(err)
		}
	}
	return total, nil
}
