package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ErrTaken says that a run belongs to another process.
var ErrTaken = errors.New("the run belongs to another assay")

// owner names a process on a machine, and one opening of a store by it.
type owner struct {
	boot    string // of the machine
	pid     int
	started string // when the process was started, in the system's own unit
	opening string // random
}

func newOwner() owner {
	return owner{bootID(), os.Getpid(), startOf(os.Getpid()), rand.Text()}
}

func (o owner) String() string {
	return strings.Join([]string{o.boot, strconv.Itoa(o.pid), o.started, o.opening}, " ")
}

// alive reports whether the process of an owner still runs, as far as can be
// known: a process of another machine counts as ended.
func alive(text string) bool {
	words := strings.Split(text, " ")
	if len(words) != 4 || words[0] != bootID() {
		return false
	}
	pid, err := strconv.Atoi(words[1])
	if err != nil || pid <= 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) { // it is not permitted for a process of another user, which lives
		return false
	}
	started := startOf(pid)
	return started == "" || started == words[2] // where the system does not tell, it may be that process
}

// bootID tells this machine since it was started from all others.
func bootID() string {
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(id))
	}
	name, _ := os.Hostname() // unknown is as good as any name
	return strings.ReplaceAll(name, " ", "-")
}

// startOf returns when a process was started: a later process may have the same
// number. It is empty where the system does not tell.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the name may have spaces
	const field = 22 - 3                           // of proc(5), after the first two
	if words := strings.Fields(after); len(words) > field {
		return words[field]
	}
	return ""
}

// Claim makes this store the owner of a run that was begun before. It fails
// with ErrTaken while the process that owns it runs; what a former owner
// appends from now on is refused.
func (s *Store) Claim(ctx context.Context, runID string) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		var before string
		err := tx.QueryRowContext(ctx, "SELECT owner FROM run WHERE id = ?", runID).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		if before == importedOwner {
			return fmt.Errorf("%w: it was imported, and can only be resumed where it was started", ErrTaken)
		}
		if before != s.owner && alive(before) {
			return fmt.Errorf("%w: process %s measures it", ErrTaken, strings.Fields(before)[1])
		}
		_, err = tx.ExecContext(ctx, "UPDATE run SET owner = ? WHERE id = ?", s.owner, runID)
		return err
	})
	return s.explain(fmt.Sprintf("claiming run %q in", runID), err)
}

// checkOwner refuses who is not the run's owner: ErrTaken, or ErrNotFound
// where there is no such run.
func (s *Store) checkOwner(ctx context.Context, tx *sql.Tx, runID string) error {
	var now string
	err := tx.QueryRowContext(ctx, "SELECT owner FROM run WHERE id = ?", runID).Scan(&now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err == nil && now != s.owner:
		return ErrTaken
	}
	return err
}
