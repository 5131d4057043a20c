package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"assay"
)

// entry is what a run's owner writes, a trial or the run anew, or a proof, which belongs
// to no run.
type entry struct {
	run, owner string
	place      string
	trial      *assay.Trial
	update     *assay.Run
	plan       string // digest of the text of the plan that the proof is of
	proof      *datedProof
}

// apply writes entries in a transaction. A trial that is there already is left as it
// is where the entry may have been written before. A proof that comes late changes what
// it would have changed in time.
func (s *Store) apply(ctx context.Context, tx *sql.Tx, e entry, again bool) error {
	if e.proof != nil {
		condition := newer
		if again {
			condition = inOrder
		}
		return insertProof(ctx, tx, e.plan, *e.proof, condition)
	}
	if err := s.checkOwner(ctx, tx, e.run, e.owner); err != nil {
		return err
	}
	if e.update != nil {
		return updateRun(ctx, tx, e.update)
	}
	err := insertTrial(ctx, tx, e.run, &e.place, *e.trial)
	if again && errors.Is(err, errTrialTwice) {
		return nil
	}
	return err
}

func (s *Store) applyAll(ctx context.Context, tx *sql.Tx, p *spool) error {
	return p.each(func(e entry) error { return s.apply(ctx, tx, e, true) })
}

// keep writes an entry to the database, or where that cannot be reached now to the
// spool.
func (s *Store) keep(ctx context.Context, e entry) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.spool == nil {
		err := s.writeOwn(ctx, func(tx *sql.Tx) error { return s.apply(ctx, tx, e, false) })
		if !s.engine.isLost(err) {
			return err
		}
		if s.spool, err = s.openSpool(err); err != nil {
			return err
		}
		s.notes = append(s.notes, fmt.Sprintf("%s; measuring goes on, and what is measured is kept in %s until the server is back",
			s.explain("writing to", s.spool.cause), s.spool.path))
		return s.spool.add(s.target, e)
	}
	if err := s.spool.add(s.target, e); err != nil {
		return err
	}
	if time.Now().Before(s.spool.next) {
		return nil
	}
	if err := s.deliver(ctx); !errors.As(err, new(*UndeliveredError)) {
		return err
	}
	return nil
}

// Deliver writes what waits for the server. Where it still cannot be reached, the
// error is an UndeliveredError.
func (s *Store) Deliver(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.deliver(ctx)
}

func (s *Store) deliver(ctx context.Context) error {
	if s.spool == nil {
		return nil
	}
	n := s.spool.entries
	all := func(tx *sql.Tx) error { return s.applyAll(ctx, tx, s.spool) }
	err := s.writeOwn(ctx, all)
	if errors.Is(err, driver.ErrBadConn) { // a connection that was lost with the first entry: the next one is new
		err = s.writeOwn(ctx, all)
	}
	if s.engine.isLost(err) {
		s.spool.next = time.Now().Add(deliveryInterval)
		return &UndeliveredError{s.name, s.spool.path, n, err}
	}
	if err != nil {
		return fmt.Errorf("%w; what was measured meanwhile is kept in %s (results: %d)", err, s.spool.path, n)
	}
	s.notes = append(s.notes, fmt.Sprintf("store %s can be reached again: it has all that was measured meanwhile", s.name))
	err = s.spool.remove()
	s.spool = nil
	return err
}

// UndeliveredError says that measured trials, or proofs, are on this machine, and not
// in the store.
type UndeliveredError struct {
	store, file string
	entries     int
	cause       error
}

func (e *UndeliveredError) Error() string {
	return fmt.Sprintf("store %s cannot be reached: what was measured waits in %s (results: %d); the next assay command of this user and machine that opens the store delivers it: %v",
		e.store, e.file, e.entries, e.cause)
}

func (e *UndeliveredError) Unwrap() error { return e.cause }

// deliveryInterval is how long a server that cannot be reached is left alone: each
// attempt takes time from the measuring.
var deliveryInterval = 5 * time.Second

// spool is a file of entries that wait for a server, a line of JSON each. Its
// process has it locked. Every entry is written again until the server confirms
// all of them in one transaction; the places of trials tell which of them it had.
type spool struct {
	file    *os.File
	path    string
	entries int
	cause   error     // of the first
	next    time.Time // no attempt is made before
}

// spoolLine is an entry in a file. The last one may be cut off, and then nobody was
// told that it was kept.
type spoolLine struct {
	Target string     `json:"target"` // the server and its database
	Run    string     `json:"run,omitempty"`
	Owner  string     `json:"owner,omitempty"`
	Place  string     `json:"place,omitempty"`
	Plan   string     `json:"plan,omitempty"`
	Line   exportLine `json:"line"`
}

func (s *Store) openSpool(cause error) (*spool, error) {
	folder, err := spoolFolder()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	path := filepath.Join(folder, rand.Text()+spoolSuffix)
	unlocked := path + ".new" // others leave it alone
	file, err := os.OpenFile(unlocked, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = os.Rename(unlocked, path)
	}
	if err != nil {
		return nil, errors.Join(cause, err, file.Close())
	}
	return &spool{file: file, path: path, cause: cause, next: time.Now().Add(deliveryInterval)}, nil
}

// spoolSuffix ends the names of spools.
const spoolSuffix = ".jsonl"

func spoolFolder() (string, error) {
	folder, err := dataFolder()
	return filepath.Join(folder, "spool"), err
}

func (p *spool) add(target string, e entry) error {
	line := spoolLine{Target: target, Run: e.run, Owner: e.owner, Place: e.place, Plan: e.plan}
	var err error
	switch {
	case e.proof != nil:
		line.Line.Proof, err = encodeRow(proofColumns, e.proof.fields())
	case e.update != nil:
		line.Line, err = runLine(*e.update)
	default:
		line.Line, err = trialLine(*e.trial)
	}
	if err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(p.file).Encode(line); err != nil {
		return errors.Join(err, p.file.Truncate(info.Size())) // or what follows a part of a line could not be read
	}
	p.entries++
	return p.file.Sync()
}

// each reads the entries from the first.
func (p *spool) each(write func(entry) error) error {
	return p.lines(func(line spoolLine) error {
		e, err := line.entry()
		if err != nil {
			return err
		}
		return write(e)
	})
}

func (l spoolLine) entry() (entry, error) {
	e := entry{run: l.Run, owner: l.Owner, place: l.Place, plan: l.Plan}
	switch {
	case l.Line.Proof != nil:
		e.proof = new(datedProof)
		return e, l.Line.Proof.decode(proofColumns, e.proof.fields())
	case l.Line.Run != nil:
		run, err := l.Line.run()
		e.update = &run
		return e, err
	}
	trial, err := l.Line.trial()
	e.trial = &trial
	return e, err
}

func (p *spool) lines(use func(spoolLine) error) error {
	from := bufio.NewReader(io.NewSectionReader(p.file, 0, 1<<62))
	for {
		text, err := from.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var line spoolLine
		if err == nil {
			err = json.NewDecoder(bytes.NewReader(text)).Decode(&line)
		}
		if err == nil {
			err = use(line)
		}
		if err != nil {
			return err
		}
	}
}

func (p *spool) remove() error {
	return errors.Join(os.Remove(p.path), p.file.Close())
}

func (p *spool) close() error {
	if p == nil {
		return nil
	}
	return p.file.Close()
}

// deliverLeft delivers what processes that ended have left for this server. What it
// does not take stays where it is, and the user is told.
func (s *Store) deliverLeft(ctx context.Context) {
	folder, err := spoolFolder()
	if err != nil {
		return // nor can there be one
	}
	left, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.notes = append(s.notes, fmt.Sprintf("what was measured while a store could not be reached may be left: %v", err))
	}
	for _, entry := range left {
		path := filepath.Join(folder, entry.Name())
		if filepath.Ext(path) != spoolSuffix {
			continue
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was delivered meanwhile
		case err != nil:
			s.notes = append(s.notes, fmt.Sprintf("what was measured while a store could not be reached is not delivered: %v", err))
		case syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil:
			_ = file.Close() // its process lives, and delivers it
		default:
			s.deliverFile(ctx, &spool{file: file, path: path})
		}
	}
}

// errOtherStore ends the reading of a spool that another store is to have.
var errOtherStore = errors.New("it is for another store")

func (s *Store) deliverFile(ctx context.Context, left *spool) {
	defer left.close()
	err := left.lines(func(line spoolLine) error {
		if line.Target != s.target {
			return errOtherStore
		}
		left.entries++
		return nil
	})
	if errors.Is(err, errOtherStore) {
		return
	}
	if _, gone := os.Stat(left.path); gone != nil || err == nil && left.entries == 0 {
		return // it was delivered before it could be locked, or nobody was told that anything was kept
	}
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) error { return s.applyAll(ctx, tx, left) })
	}
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("what was measured while store %s could not be reached is in %s (results: %d), and is not delivered: %v", s.name, left.path, left.entries, err))
		return
	}
	s.notes = append(s.notes, fmt.Sprintf("delivered what was measured while store %s could not be reached (results: %d)", s.name, left.entries))
	if err := os.Remove(left.path); err != nil {
		s.notes = append(s.notes, err.Error())
	}
}
