//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/store"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
)

// report is the part of a JSON report that the tests look at.
type reportJSON struct {
	Run struct {
		ID string `json:"id"`
	} `json:"run"`
	Tables []struct {
		Title string    `json:"title"`
		Rows  []rowJSON `json:"rows"`
		Twins []rowJSON `json:"twins"`
	} `json:"tables"`
}

type rowJSON struct {
	Operation string       `json:"operation"`
	Driver    string       `json:"driver"`
	Profile   string       `json:"profile"`
	Clients   int          `json:"clients"`
	Outcome   string       `json:"outcome"`
	Reason    string       `json:"reason"`
	Figures   []figureJSON `json:"figures"`
	Trials    []struct {
		Outcome string `json:"outcome"`
		Digest  string `json:"digest"`
	} `json:"trials"`
}

type figureJSON struct {
	Metric string  `json:"metric"`
	N      int     `json:"n"`
	Center float64 `json:"center"`
}

func readReport(ts *testscript.TestScript) reportJSON {
	var r reportJSON
	ts.Check(json.Unmarshal(output(ts, "report", "--format", "json"), &r))
	return r
}

// csvRows returns the rows of the CSV report as maps by column.
func csvRows(ts *testscript.TestScript) []map[string]string {
	records, err := csv.NewReader(bytes.NewReader(output(ts, "report", "--format", "csv"))).ReadAll()
	ts.Check(err)
	var rows []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// outcomes FILE compares the newest run's outcomes as the CSV has them with a
// file of lines: operation, driver, profile, outcome.
func outcomes(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "outcomes FILE")
	var got []string
	for _, row := range csvRows(ts) {
		got = append(got, strings.Join([]string{row["operation"], row["driver"], row["profile"], row["outcome"]}, " ")+"\n")
	}
	slices.Sort(got)
	have := strings.Join(slices.Compact(got), "")
	if wanted := ts.ReadFile(args[0]); have != wanted {
		ts.Fatalf("%s", diff.Diff(args[0], []byte(wanted), "outcomes", []byte(have)))
	}
}

// reason DRIVER OPERATION REGEXP matches the reason of one cell.
func reason(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 3, "reason DRIVER OPERATION REGEXP")
	found := false
	for _, table := range readReport(ts).Tables {
		for _, row := range table.Rows {
			if row.Driver != args[0] || row.Operation != args[1] {
				continue
			}
			found = true
			if regexp.MustCompile(args[2]).MatchString(row.Reason) == neg {
				ts.Fatalf("the reason of %s, %s is %q", args[0], args[1], row.Reason)
			}
		}
	}
	if !found {
		ts.Fatalf("no cell of %s, %s", args[0], args[1])
	}
}

// runid NAME sets a variable to the newest run's ID.
func runID(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "runid NAME")
	ts.Setenv(args[0], readReport(ts).Run.ID)
}

// trials FILE writes every trial of the newest run to a file, one a line, in
// the order of the store.
func trials(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "trials FILE")
	s, err := store.Open(context.Background(), filepath.Join(ts.Getenv("XDG_DATA_HOME"), "assay", "assay.db"))
	ts.Check(err)
	defer s.Close()
	run, err := s.Run(context.Background(), "")
	ts.Check(err)
	var text []byte
	for trial, err := range s.Trials(context.Background(), run.ID) {
		ts.Check(err)
		line, err := json.Marshal(trial)
		ts.Check(err)
		text = append(text, run.ID+" "+string(line)+"\n"...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o644))
}

// lines BEFORE AFTER demands that a file has lines, and that all of them are
// the first ones of another that has more.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "lines BEFORE AFTER")
	before, after := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if before == "" || len(after) <= len(before) || !strings.HasPrefix(after, before) {
		ts.Fatalf("%s has %d lines and is not the beginning of %s with %d lines",
			args[0], strings.Count(before, "\n"), args[1], strings.Count(after, "\n"))
	}
}

// cellFigure names one figure of one cell.
type cellFigure struct {
	operation, driver, profile, clients, metric string
}

// agree demands that CSV and JSON have the same figures, that the text has a
// line for every cell, and that the trials of an operation all have the same
// digest of their answers.
func agree(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0 && !neg, "agree")
	text := output(ts, "report")
	inCSV, inJSON := map[cellFigure]string{}, map[cellFigure]string{}
	for _, row := range csvRows(ts) {
		if row["metric"] != "" {
			inCSV[cellFigure{row["operation"], row["driver"], row["profile"], row["clients"], row["metric"]}] = row["n"] + " " + row["median"]
		}
	}
	for _, table := range readReport(ts).Tables {
		digests := map[string]bool{}
		for _, row := range append(table.Rows, table.Twins...) {
			for _, trial := range row.Trials {
				digests[trial.Digest] = true
			}
		}
		if len(digests) != 1 || digests[""] {
			ts.Fatalf("%s: digests of the answers are %v, want one", table.Title, digests)
		}
		for _, row := range table.Rows {
			if line := "(?m)^" + row.Driver + " +" + row.Profile + " "; !regexp.MustCompile(line).Match(text) {
				ts.Fatalf("no line of the text matches %s", line)
			}
			for _, f := range row.Figures {
				key := cellFigure{row.Operation, row.Driver, row.Profile, strconv.Itoa(row.Clients), f.Metric}
				inJSON[key] = fmt.Sprintf("%d %s", f.N, strconv.FormatFloat(f.Center, 'g', -1, 64))
			}
		}
	}
	for key, figure := range inCSV {
		if inJSON[key] != figure {
			ts.Fatalf("%v is %s in CSV and %s in JSON", key, figure, inJSON[key])
		}
	}
	if len(inCSV) != len(inJSON) || len(inCSV) == 0 {
		ts.Fatalf("%d figures in CSV, %d in JSON", len(inCSV), len(inJSON))
	}
}

// tellFailures tells of a script that failed what failed in its stores, and keeps these.
func tellFailures(env *testscript.Env) {
	if t, ok := env.T().(interface{ Failed() bool }); !ok || !t.Failed() {
		return
	}
	own, _ := filepath.Glob(filepath.Join(env.WorkDir, "*.db"))
	for _, path := range append(own, filepath.Join(env.WorkDir, "data", "assay", "assay.db")) {
		s, err := store.OpenToRead(context.Background(), path)
		if err != nil { // there is none, or it is a database of another kind
			continue
		}
		kept, err := os.CreateTemp("", "assay-failed-*.db")
		if err == nil {
			err = errors.Join(kept.Close(), os.Remove(kept.Name()), execute(path, "VACUUM INTO '"+kept.Name()+"'"))
			env.T().Log("the store of the script that failed is kept: ", kept.Name(), " ", errors.Join(err, tellReasons(env.T(), s)))
		}
		_ = s.Close()
	}
}

// tellReasons tells each outcome of a store's runs that is not ok, with its reason.
func tellReasons(t testscript.T, s *store.Store) error {
	runs, err := s.Runs(context.Background())
	for _, run := range runs {
		told := map[string]bool{}
		for trial, trialErr := range s.Trials(context.Background(), run.ID) {
			line := fmt.Sprintf("%s of plan %s, %s, %s: %s: %s", run.ID, run.Plan, trial.Cell.Operation, trial.Cell.Driver, trial.Outcome, trial.Reason)
			if trialErr == nil && trial.Outcome != assay.OK && !told[line] {
				told[line] = true
				t.Log(line)
			}
			err = errors.Join(err, trialErr)
		}
	}
	return err
}
