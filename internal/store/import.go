package store

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"assay"
)

// maxLine and MaxUnpacked bound what is read of an exported run: a file of a few
// kilobytes can unpack to any size.
const (
	maxLine     = 16 << 20
	MaxUnpacked = 4 << 30
)

// importedOwner is the owner of imported runs. No process has this name: nobody
// resumes or changes such a run.
const importedOwner = "imported"

// errNoTrials says that nothing of a run was measured.
var errNoTrials = errors.New("no trials")

// errNoExport says that a file is something else.
var errNoExport = errors.New("it is not a file that assay runs export wrote")

// ImportError says what is wrong with a file, and not with the store.
type ImportError struct{ err error }

func (e *ImportError) Error() string { return e.err.Error() }
func (e *ImportError) Unwrap() error { return e.err }

// Import adds a run from a file that Export wrote, all of it or nothing. It
// returns false, and changes nothing of the run, where the store has the same run
// already; another run of that ID is an error. What the file is to blame for is an
// ImportError, and so is a file that unpacks to more than maxUnpacked bytes.
//
// The file is read twice: others can write the store until all of it is known to
// be good.
//
// The digest finds damage. It does not tell who wrote the file.
func (s *Store) Import(ctx context.Context, from io.ReadSeeker, maxUnpacked int64) (run assay.Run, added bool, err error) {
	return s.add(ctx, from, maxUnpacked, importedOwner)
}

// add adds a run from a file, for an owner.
func (s *Store) add(ctx context.Context, from io.ReadSeeker, maxUnpacked int64, owner string) (run assay.Run, added bool, err error) {
	digest, err := checkFile(ctx, from, maxUnpacked)
	if err != nil {
		return run, false, err
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		run, added, err = s.addRun(ctx, tx, from, maxUnpacked, owner, digest)
		return err
	})
	switch {
	case errors.As(err, new(*ImportError)):
		return run, false, err
	case err != nil:
		return run, false, s.explain("importing a run into", err)
	}
	return run, added, nil
}

// CheckImport reads all of a file that Import is to add, and returns to its beginning. It
// needs no store. Its errors are those of Import.
func CheckImport(ctx context.Context, from io.ReadSeeker, maxUnpacked int64) error {
	_, err := checkFile(ctx, from, maxUnpacked)
	return err
}

// checkFile is CheckImport, and returns the digest of the run with its trials.
func checkFile(ctx context.Context, from io.ReadSeeker, maxUnpacked int64) ([]byte, error) {
	source := &source{from: from}
	digest, err := checkLines(ctx, source, maxUnpacked)
	switch failed := errors.Join(ctx.Err(), source.err); {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, &ImportError{err}
	}
	_, err = from.Seek(0, io.SeekStart)
	return digest, err
}

func checkLines(ctx context.Context, from io.Reader, maxUnpacked int64) ([]byte, error) {
	r, err := newLineReader(from, maxUnpacked)
	if err != nil {
		return nil, err
	}
	run, err := r.readRun()
	if err != nil {
		return nil, err
	}
	digest, err := r.readTrials(run, func(assay.Trial) error { return ctx.Err() })
	if err != nil {
		return nil, err
	}
	return digest, r.readProofs(func(datedProof) error { return ctx.Err() })
}

// source keeps the error of reading a file, which is not what the file says.
type source struct {
	from io.Reader
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// addRun adds the run of a file with this digest, and its proofs.
func (s *Store) addRun(ctx context.Context, tx *sql.Tx, from io.Reader, maxUnpacked int64, owner string, digest []byte) (run assay.Run, added bool, err error) {
	r, err := newLineReader(from, maxUnpacked)
	if err != nil {
		return run, false, err
	}
	if run, err = r.readRun(); err != nil {
		return run, false, err
	}
	if err := s.engine.lockRuns(ctx, tx); err != nil {
		return run, false, err
	}
	there, err := s.digestOf(ctx, run.ID)
	if err != nil {
		return run, false, err
	}
	keep, before, now := func(assay.Trial) error { return nil }, 0, 0
	if added = !bytes.Equal(digest, there); added {
		if there != nil {
			if before, err = makeWay(ctx, tx, run.ID, owner); err != nil {
				return run, false, err
			}
		}
		if err := s.insertRun(ctx, tx, &run, owner); err != nil {
			return run, false, err
		}
		keep = func(trial assay.Trial) error {
			now++
			err := insertTrial(ctx, tx, run.ID, trial)
			if errors.Is(err, errTrialTwice) {
				return &ImportError{err}
			}
			return err
		}
	}
	if _, err := r.readTrials(run, keep); err != nil {
		return run, false, err
	}
	if now < before { // an older copy
		return run, false, differs(run.ID)
	}
	err = r.readProofs(func(p datedProof) error { return insertProof(ctx, tx, PlanDigest(run.PlanText), p, inOrder) })
	return run, added, err
}

// makeWay removes a run that was pushed before it was finished, for what it is now, and
// returns how many trials it had. Any other one stays, and that is an error.
func makeWay(ctx context.Context, tx *sql.Tx, id, owner string) (trials int, err error) {
	if owner != pushedOwner {
		return 0, differs(id)
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM trial WHERE run_id = ?", id).Scan(&trials); err != nil {
		return 0, err
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM run WHERE id = ? AND owner = ? AND status <> ?", id, owner, assay.Finished)
	if err != nil {
		return 0, err
	}
	if removed, err := result.RowsAffected(); err != nil || removed == 0 {
		return 0, cmp.Or(err, differs(id))
	}
	return trials, nil
}

func differs(id string) error {
	return &ImportError{fmt.Errorf("the store has run %s already, with other trials or in another state; another store (--store) can take it", id)}
}

// digestOf is the digest of a run and its trials; nil where the store does not have
// it.
func (s *Store) digestOf(ctx context.Context, id string) ([]byte, error) {
	run, err := s.load(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w := newLineWriter(io.Discard)
	err = s.exportRun(ctx, run, w)
	return w.digest.Sum(nil), err
}

// lineReader reads lines and checks their digests.
type lineReader struct {
	from   *bufio.Reader
	digest hash.Hash
	number int
}

func newLineReader(from io.Reader, maxUnpacked int64) (*lineReader, error) {
	zipped, err := gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoExport, err)
	}
	return &lineReader{from: bufio.NewReaderSize(&bounded{zipped, maxUnpacked, maxUnpacked}, 64<<10), digest: sha256.New()}, nil
}

// bounded fails where more bytes come than are left.
type bounded struct {
	from      io.Reader
	max, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("it unpacks to more than %d bytes, the maximum", b.max)
	}
	return n, err
}

// next reads a line. One with a digest has to have that of the lines before it.
func (r *lineReader) next() (line exportLine, err error) {
	r.number++
	text, err := r.text()
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err = decoder.Decode(&line); err != nil {
			err = fmt.Errorf("the file is damaged: %w", err)
		}
	}
	switch {
	case err != nil:
	case line.End == "":
		r.digest.Write(text)
	case line.SHA256 != hex.EncodeToString(r.digest.Sum(nil)):
		err = errors.New("the file is damaged: its checksum does not match")
	default:
		r.digest.Reset()
	}
	if err != nil {
		return line, fmt.Errorf("line %d: %w", r.number, err)
	}
	return line, nil
}

func (r *lineReader) text() (text []byte, err error) {
	for {
		part, err := r.from.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxLine:
			return nil, fmt.Errorf("it has more than %d bytes, the maximum", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("the file is not whole: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, fmt.Errorf("the file is cut off or damaged: %w", err)
		default:
			return text, nil
		}
	}
}

// readRun reads the lines before the trials.
func (r *lineReader) readRun() (run assay.Run, err error) {
	head, err := r.next()
	if err != nil || head.Format != exportFormat {
		return run, errors.Join(errNoExport, err)
	}
	known, err := schemaVersion()
	if err != nil {
		return run, err
	}
	switch {
	case head.Schema > known:
		return run, tooNew(head.Schema, known)
	case head.Schema < 1:
		return run, fmt.Errorf("%w: its schema is %d, and they are numbered from 1", errNoExport, head.Schema)
	}
	line, err := r.next()
	if err != nil {
		return run, err
	}
	if run, err = line.run(); err == nil {
		err = checkAll(&run, runChecks)
	}
	if err != nil {
		return run, fmt.Errorf("line %d: %w", r.number, err)
	}
	run.Imported = true
	return run, nil
}

func (l exportLine) run() (run assay.Run, err error) {
	if err := l.Run.decode(runColumns, runFields(&run)); err != nil {
		return run, fmt.Errorf("the run: %w", err)
	}
	targets, err := decodeRows(l.Targets, targetColumns, targetFields)
	if err != nil {
		return run, fmt.Errorf("targets: %w", err)
	}
	run.Targets = append(run.Targets, targets...)
	return run, nil
}

// readTrials hands over the trials and returns the digest of the run with them, as
// this version would write it.
func (r *lineReader) readTrials(run assay.Run, keep func(assay.Trial) error) ([]byte, error) {
	w := newLineWriter(io.Discard)
	if err := w.writeRun(run); err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		line, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case line.End == endOfTrials && n == 0:
			return nil, fmt.Errorf("run %s has %w: there is nothing to import", run.ID, errNoTrials)
		case line.End == endOfTrials:
			return w.digest.Sum(nil), nil
		}
		trial, err := line.trial()
		if err == nil {
			err = checkAll(&trial, trialChecks)
		}
		if err == nil {
			err = w.writeTrial(trial)
		}
		if err == nil {
			err = keep(trial)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.number, err)
		}
	}
}

func (l exportLine) trial() (trial assay.Trial, err error) {
	if l.Trial == nil {
		return trial, errors.New("it is not a trial")
	}
	if err := l.Trial.decode(trialColumns, trialFields(&trial)); err != nil {
		return trial, err
	}
	settings, err := decodeRows(l.Settings, settingColumns, settingFields)
	if err != nil {
		return trial, fmt.Errorf("settings: %w", err)
	}
	trial.Settings = append(trial.Settings, settings...)
	if trial.Figures == nil && len(l.Figures) > 0 {
		trial.Figures = map[string]float64{}
	}
	for metric, text := range l.Figures {
		var value float64
		if err := decodeValue(text, &value); err != nil {
			return trial, fmt.Errorf("figure %q: %w", metric, err)
		}
		trial.Figures[metric] = value
	}
	return trial, nil
}

// readProofs hands over the proofs, which are the last lines.
func (r *lineReader) readProofs(keep func(datedProof) error) error {
	for {
		line, err := r.next()
		if err != nil {
			return err
		}
		if line.End == endOfProofs {
			break
		}
		var p datedProof
		if err := line.Proof.decode(proofColumns, p.fields()); err != nil {
			return fmt.Errorf("line %d: %w", r.number, err)
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("line %d: %w", r.number, err)
		}
		if err := keep(p); err != nil {
			return err
		}
	}
	if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("there is more after the end of the file's last line"), err)
	}
	return nil
}

// check refuses a proof that nothing can have shown.
func (p *datedProof) check() error {
	if _, err := time.Parse(time.RFC3339, p.proved); err != nil {
		return fmt.Errorf("a proof has no time: %w", err)
	}
	if p.Target == "" || p.States <= 0 || p.Held < 0 || p.Refuted < 0 || p.Refuted > p.States || p.Held > p.States-p.Refuted {
		return fmt.Errorf("not a proof of %q: states %d, held %d, refuted %d", p.Target, p.States, p.Held, p.Refuted)
	}
	return nil
}
