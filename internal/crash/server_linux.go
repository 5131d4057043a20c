package crash

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"assay/internal/crash/powercut"
	"assay/internal/sys/guard"
	"assay/kit/postgres"
	"assay/kit/wire"
)

const (
	// longestCommit is how long after an acknowledgement a server is killed at the latest
	// that is to be killed about a commit.
	longestCommit = 3 * time.Millisecond
	// marksInterval is how often the acknowledgements are counted until then.
	marksInterval = 200 * time.Microsecond
	// longestWait is how long they are waited for: a disk may be slow.
	longestWait = 10 * longestLife
	// shortSegment is less room than a segment of a server's log takes.
	shortSegment = 8 << 20
	// leastRoom is what a server's workload takes at least.
	leastRoom = 64 << 10
	// endPatience is how long a server may take to end by itself.
	endPatience = 10 * time.Second
)

// What a disk has no room for under a server.
const (
	tableGrowth powercut.Moment = "table growth"
	logGrowth   powercut.Moment = "log growth"
)

// mostSucceeding is how many operations of each kind succeed at the most on a server's
// disk before they fail: about as many as the workload takes. The reads are those of a
// start with cold caches.
var mostSucceeding = map[powercut.OpKind]int{powercut.OpWrite: 300, powercut.OpFlush: 300, powercut.OpRead: 130}

// unsyncedPart is the part of these that a server does without synchronous commits.
const unsyncedPart = 5

// killedServer kills all processes of the worker's server, in turns at a random time and
// right behind a random acknowledgement, and looks at what it left.
func (t *trial) killedServer(ctx context.Context) (evidence, observation, error) {
	e := evidence{Finding: Finding{Moment: powercut.Anywhere}}
	t.result.remark("servers are killed at random times and after acknowledgements, and not at system calls")
	path, marks, remove, err := t.scratch()
	if err != nil {
		return e, observation{}, err
	}
	defer remove()
	wait := t.untilTime()
	if t.turn%2 == 1 {
		e.Finding.Moment, wait = powercut.Acked, t.untilAcked(marks)
	}
	if err := t.writeUntilServerKilled(ctx, path, marks, wait); err != nil {
		return e, observation{}, err
	}
	e.Finding.Acked = acknowledged(marks)
	if e.Files, err = powercut.ReadFolder(filepath.Dir(path)); err != nil {
		return e, observation{}, err
	}
	found, err := t.inspectAcked(ctx, path, e.Finding.Acked)
	return e, found, err
}

// acknowledged is how many transactions a file of marks has.
func acknowledged(marks string) int {
	info, err := os.Stat(marks)
	if err != nil {
		return 0 // there was none yet
	}
	return int(info.Size())
}

// untilTime waits for a random time, or the context's end.
func (t *trial) untilTime() func(context.Context) {
	pause := time.Duration(t.random.Int64N(int64(longestLife)))
	return func(ctx context.Context) { sleep(ctx, pause) }
}

// untilAcked waits for a random acknowledgement, though not for ever, and a random part of the next commit.
func (t *trial) untilAcked(marks string) func(context.Context) {
	count, pause := 1+t.random.IntN(t.history.transactions()/4), time.Duration(t.random.Int64N(int64(longestCommit)))
	return func(ctx context.Context) {
		for began := time.Now(); ctx.Err() == nil && acknowledged(marks) < count && time.Since(began) < longestWait; {
			sleep(ctx, marksInterval)
		}
		sleep(ctx, pause)
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// writeUntilServerKilled runs the workload and kills the server when a wait is over, or
// behind the last transaction where that comes first. Its error is one that came before.
func (t *trial) writeUntilServerKilled(ctx context.Context, path, marks string, wait func(context.Context)) error {
	db, err := t.begin(ctx, path, nil)
	if err != nil {
		return err
	}
	defer db.kill()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	var killed atomic.Bool
	over := make(chan error, 1)
	go func() {
		over <- guard.Error(func() error {
			wait(waiting)
			if waiting.Err() == nil {
				killed.Store(true)
				db.server.send(killRequest)
			}
			return nil
		})
	}()
	err = db.write(ctx, 0, t.history.transactions(), marks)
	early := killed.Load()
	cancel()
	if fault := <-over; fault != nil {
		return fault
	}
	if err != nil && !early {
		return err
	}
	db.server.send(killRequest)
	return nil
}

// succeeding draws how many operations succeed before they fail, small numbers as often
// as large ones.
func (t *trial) succeeding(kind powercut.OpKind) (int64, error) {
	settings, err := settingsOfServer(t.task)
	most := mostSucceeding[kind]
	if kind != powercut.OpRead && settings["synchronous_commit"] == "off" {
		most /= unsyncedPart
	}
	return int64(drawNumber(t.random, most)) - 1, err
}

// filledServer lets the disk run full under a server, in turns where its tables grow and
// where its log needs another segment. Without room for a table, a transaction fails and
// the server goes on; without room for the log, the server ends.
func (t *trial) filledServer(ctx context.Context) (evidence, observation, error) {
	moment, left := tableGrowth, leastRoom+t.random.Int64N(600<<10)
	b := t.full(left / 2) // tables take less than the log
	b.goesOn = true
	if t.turn%2 == 1 {
		moment, b = logGrowth, t.full(shortSegment)
		fill := b.breaks
		b.breaks = func(ctx context.Context, db *database) error {
			request := wire.Verify{SQL: fmt.Sprintf(fillSegment, left), Returns: []string{"text"}}
			if err := db.call(ctx, wire.TypeVerify, request, &wire.Verified{}); err != nil {
				return err
			}
			return fill(ctx, db)
		}
	}
	e, found, err := t.broken(ctx, b)
	e.Finding.Moment = moment
	return e, found, err
}

// fillSegment writes a message, which nobody reads, to the server's log, so that its
// segment has so many bytes left.
const fillSegment = `SELECT pg_logical_emit_message(false, 'assay', repeat('x', greatest(0,
	segment - (pg_current_wal_insert_lsn() - '0/0'::pg_lsn) %% segment - %d)::int))::text
	FROM (SELECT pg_size_bytes(current_setting('wal_segment_size'))) AS setting (segment)`

// goOn commits the rest of the workload where there is room again, beginning with the
// transaction that failed, and ends the server in order. One that runs has to do both.
func (t *trial) goOn(ctx context.Context, db *database, from int) observation {
	err := db.write(ctx, from, t.history.transactions()-from, t.marks())
	if err != nil && db.server.ended(ctx) {
		return observation{}
	}
	if err == nil {
		err = db.close(ctx)
	}
	if err != nil {
		return observation{damage: Unwritable, transactions: -1, words: fmt.Sprintf("the server ran and there was room again, but it did not commit the rest: %s", err)}
	}
	return observation{}
}

// ended reports whether the server takes no connections any more, and waits for that: one
// that ends itself takes a moment.
func (h *host) ended(ctx context.Context) bool {
	for began := time.Now(); time.Since(began) < endPatience && ctx.Err() == nil; sleep(ctx, marksInterval) {
		connection, err := net.Dial("unix", filepath.Join(h.socket, fmt.Sprintf(".s.PGSQL.%d", postgres.Port)))
		if err != nil {
			return true
		}
		_ = connection.Close() // nothing was said on it
	}
	return false
}
