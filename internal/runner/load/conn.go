package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"assay/kit/answer"
	"assay/kit/column"
)

// clock returns nanoseconds since an arbitrary moment, monotonic.
func clock() int64 { return int64(time.Since(epoch)) }

var epoch = time.Now()

// conn is a connection that stays open. One request is under way at most.
type conn struct {
	g        *generator
	mu       sync.Mutex // of net and closed: hangUp comes from elsewhere
	net      net.Conn   // nil after a failure
	closed   bool
	in       *bufio.Reader
	out      []byte
	response fasthttp.Response
	pending  chan sent // of the open loop
}

func newConn(g *generator) *conn {
	return &conn{g: g, in: bufio.NewReaderSize(nil, 16<<10), pending: make(chan sent, 1)}
}

var errHungUp = errors.New("the load was stopped")

func (c *conn) dial(ctx context.Context) error {
	dialer := net.Dialer{Timeout: patience}
	made, err := dialer.DialContext(ctx, "tcp", c.g.target.address)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.Join(errHungUp, made.Close())
	}
	c.net = made
	c.in.Reset(made)
	return nil
}

func (c *conn) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.net != nil {
		_ = c.net.Close() // nothing is lost
	}
}

// send sends a request, over a new connection where the old one broke.
func (c *conn) send(ctx context.Context, number int) error {
	if c.net == nil {
		if err := c.dial(ctx); err != nil {
			return err
		}
	}
	c.out = append(c.out[:0], "GET "...)
	c.out = append(c.out, c.g.target.head...)
	if c.g.target.numbered {
		c.out = strconv.AppendInt(c.out, int64(number), 10)
	}
	c.out = append(c.out, c.g.target.tail...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.g.target.address...)
	c.out = append(c.out, "\r\n\r\n"...)
	if err := c.net.SetDeadline(time.Now().Add(patience)); err != nil {
		return c.broken(err)
	}
	if _, err := c.net.Write(c.out); err != nil {
		return c.broken(err)
	}
	return nil
}

func (c *conn) receive(number int) error {
	if err := c.response.ReadLimitBody(c.in, maxBody); err != nil {
		return c.broken(fmt.Errorf("read the answer: %w", err))
	}
	err := c.g.check(number, c.response.StatusCode(), c.response.Body())
	if c.response.ConnectionClose() {
		_ = c.broken(nil)
	}
	return err
}

// broken drops the connection.
func (c *conn) broken(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.net.Close() // its failure is known
	c.net = nil
	return err
}

// wrongError says that an answer is not the expected one.
type wrongError struct {
	number int
	body   []byte
}

func (e *wrongError) Error() string {
	return fmt.Sprintf("the answer to request %d is %s", e.number, excerpt(e.body))
}

// statusError says that an answer has not the status that it should have.
type statusError struct {
	status int
	body   []byte
}

func (e *statusError) Error() string {
	return fmt.Sprintf("status %d: %s", e.status, excerpt(e.body))
}

func excerpt(body []byte) string {
	const limit = 200
	if len(body) > limit {
		return string(body[:limit]) + "..."
	}
	return string(bytes.TrimSpace(body))
}

// How much of an answer is expected, in the second column of the file.
const (
	Status    = 0 // the status 200 alone
	Rows      = 1 // the number of rows
	EveryByte = 2 // every byte
)

// openExpected opens a file of expected answers: a column file with two int
// columns and a row for each request, around the end. The first is a digest
// (answer.Sum or answer.RowsSum), the second says of what: Status, Rows or EveryByte.
func openExpected(path string) (*column.File, error) {
	file, err := column.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the expected answers: %w", err)
	}
	if file.Columns() != 2 || file.Type(0) != column.Int || file.Type(1) != column.Int || file.Rows() == 0 {
		return nil, errors.Join(fmt.Errorf("the expected answers %s: want two int columns, and rows", path), file.Close())
	}
	return file, nil
}

// check holds an answer against the expected one.
func (g *generator) check(number, status int, body []byte) error {
	if g.expected == nil {
		if status < 200 || status > 299 {
			return &statusError{status, bytes.Clone(body)}
		}
		return nil
	}
	if status != fasthttp.StatusOK {
		return &statusError{status, bytes.Clone(body)}
	}
	row := number % g.expected.Rows()
	sum := g.expected.Int(0, row)
	switch g.expected.Int(1, row) {
	case EveryByte:
		if answer.Sum(body) == sum {
			return nil
		}
	case Rows:
		if answer.RowsSum(body) == sum {
			return nil
		}
	default:
		return nil
	}
	return &wrongError{number, bytes.Clone(body)}
}

// noteRow keeps count of failures in a row.
func (g *generator) noteRow(err error) {
	switch {
	case err != nil && !errors.As(err, new(*statusError)) && !errors.As(err, new(*wrongError)):
		g.failing.Add(1)
	case g.failing.Load() > 0:
		g.failing.Store(0)
	}
}
