package store

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"assay"
)

// exportLine is a line of an exported run, which is a file of lines of JSON,
// compressed by gzip:
//
//	{"format": "assay run", "schema": 6}
//	{"run": {COLUMN: VALUE, ...}, "targets": [{...}, ...]}
//	{"trial": {...}, "figures": {METRIC: VALUE, ...}, "settings": [{...}, ...]}   one for each
//	{"end": "trials", "sha256": "..."}     the digest of the lines before it
//	{"proof": {...}}                       one for each
//	{"end": "proofs", "sha256": "..."}     the digest of the lines of proofs
//
// Columns and values are those of the store's tables. Proofs have a digest of their
// own: one may be added to a run later, and the run stays the same.
type exportLine struct {
	Format   string                     `json:"format,omitempty"`
	Schema   int64                      `json:"schema,omitempty"` // the number of the last migration that the columns are of
	Run      row                        `json:"run,omitempty"`
	Targets  []row                      `json:"targets,omitempty"`
	Trial    row                        `json:"trial,omitempty"`
	Figures  map[string]json.RawMessage `json:"figures,omitempty"`
	Settings []row                      `json:"settings,omitempty"`
	Proof    row                        `json:"proof,omitempty"`
	End      string                     `json:"end,omitempty"`
	SHA256   string                     `json:"sha256,omitempty"`
}

const (
	exportFormat = "assay run"
	endOfTrials  = "trials"
	endOfProofs  = "proofs"
)

// Export writes a run with all of its trials and proofs, so that Import of another
// store can add it. An unknown ID gives ErrNotFound.
func (s *Store) Export(ctx context.Context, id string, to io.Writer) (assay.Run, error) {
	run, err := s.Run(ctx, id)
	if err != nil {
		return run, err
	}
	zipped := gzip.NewWriter(to)
	buffered := bufio.NewWriter(zipped)
	w := newLineWriter(buffered)
	if err := s.exportRun(ctx, run, w); err != nil {
		return run, s.explain(fmt.Sprintf("exporting run %q of", run.ID), err)
	}
	if err := w.writeEnd(endOfTrials); err != nil {
		return run, err
	}
	if err := s.exportProofs(ctx, run, w); err != nil {
		return run, s.explain(fmt.Sprintf("exporting run %q of", run.ID), err)
	}
	if err := buffered.Flush(); err != nil {
		return run, err
	}
	return run, zipped.Close()
}

func (s *Store) exportRun(ctx context.Context, run assay.Run, w *lineWriter) error {
	if err := w.writeRun(run); err != nil {
		return err
	}
	for trial, err := range s.Trials(ctx, run.ID) {
		if err == nil {
			err = w.writeTrial(trial)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) exportProofs(ctx context.Context, run assay.Run, w *lineWriter) error {
	proofs, err := datedProofs(ctx, s.db, run.PlanText)
	if err != nil {
		return err
	}
	for i := range proofs {
		columns, err := encodeRow(proofColumns, proofs[i].fields())
		if err != nil {
			return err
		}
		if err := w.write(exportLine{Proof: columns}); err != nil {
			return err
		}
	}
	return w.writeEnd(endOfProofs)
}

type lineWriter struct {
	to     io.Writer
	digest hash.Hash
}

func newLineWriter(to io.Writer) *lineWriter { return &lineWriter{to, sha256.New()} }

func (w *lineWriter) write(line exportLine) error {
	return json.NewEncoder(io.MultiWriter(w.digest, w.to)).Encode(line)
}

func (w *lineWriter) writeEnd(of string) error {
	line := exportLine{End: of, SHA256: hex.EncodeToString(w.digest.Sum(nil))}
	w.digest.Reset()
	return json.NewEncoder(w.to).Encode(line)
}

// writeRun writes the lines before the trials.
func (w *lineWriter) writeRun(run assay.Run) error {
	schema, err := schemaVersion()
	if err != nil {
		return err
	}
	if err := w.write(exportLine{Format: exportFormat, Schema: schema}); err != nil {
		return err
	}
	line, err := runLine(run)
	if err != nil {
		return err
	}
	return w.write(line)
}

func runLine(run assay.Run) (line exportLine, err error) {
	if line.Run, err = encodeRow(runColumns, runFields(&run)); err != nil {
		return line, err
	}
	line.Targets, err = encodeRows(run.Targets, targetColumns, targetFields)
	return line, err
}

func (w *lineWriter) writeTrial(trial assay.Trial) error {
	line, err := trialLine(trial)
	if err != nil {
		return err
	}
	return w.write(line)
}

func trialLine(trial assay.Trial) (line exportLine, err error) {
	line.Figures = map[string]json.RawMessage{}
	if line.Trial, err = encodeRow(trialColumns, trialFields(&trial)); err != nil {
		return line, err
	}
	for _, metric := range slices.Sorted(maps.Keys(trial.Figures)) {
		if line.Figures[metric], err = encodeValue(trial.Figures[metric]); err != nil {
			return line, err
		}
	}
	line.Settings, err = encodeRows(trial.Settings, settingColumns, settingFields)
	return line, err
}
