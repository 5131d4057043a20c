package crash

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"assay/internal/guard"
)

const (
	// longestCommit is how long after an acknowledgement a server is killed at the latest
	// that is to be killed about a commit.
	longestCommit = 3 * time.Millisecond
	// marksInterval is how often the acknowledgements are counted until then.
	marksInterval = 200 * time.Microsecond
	// longestWait is how long they are waited for: a disk may be slow.
	longestWait = 10 * longestLife
)

// killedServer kills all processes of the worker's server, in turns at a random time and
// right behind a random acknowledgement, and looks at what it left.
func (t *trial) killedServer(ctx context.Context) (evidence, observation, error) {
	e := evidence{Finding: Finding{Moment: Anywhere}}
	t.result.remark("servers are killed at random times and behind acknowledgements, and not at system calls")
	path, marks, remove, err := t.scratch()
	if err != nil {
		return e, observation{}, err
	}
	defer remove()
	wait := t.untilTime()
	if t.turn%2 == 1 {
		e.Finding.Moment, wait = Acked, t.untilAcked(marks)
	}
	if err := t.writeUntilServerKilled(ctx, path, marks, wait); err != nil {
		return e, observation{}, err
	}
	e.Finding.Acked = acknowledged(marks)
	if e.Files, err = readFolder(filepath.Dir(path)); err != nil {
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
