package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"
)

// experiment is a search on this machine against all configurations measured.
type experiment struct {
	assay    string // the program
	folder   string
	launches int
	rows     int
	repeats  int
	share    float64       // of the time of the exhaustive search, that a tuning may take
	budget   time.Duration // of a tuning; 0: as share has it
}

// The levels of the exhaustive space, those that assay tune tries with 256 MiB for one
// reader and one writer: 3 x 3 x 2 x 2 x 2 configurations. The first is the current one.
var grid = [][]map[string]string{
	{{}, {"journal_mode": "wal", "synchronous": "normal"}, {"journal_mode": "truncate", "synchronous": "normal"}},
	{{}, {"cache_size": "-65536"}, {"cache_size": "-16384"}},
	{{}, {"mmap_size": "134217728"}},
	{{}, {"page_size": "8192"}},
	{{}, {"temp_store": "memory"}},
}

const experimentPlan = `name: %s
seed: %d
launches: %d
precision: 50%%
reference: modernc/%s
drivers: [modernc]
profiles:
%sworkload:
  name: monster
  schema: CREATE TABLE monster (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hp INTEGER NOT NULL)
  data:
    monster: SELECT value, text(12), random(1, 9999) FROM generate_series(1, %[6]d)
operations:
  point-read:
    sql: SELECT id, name, hp FROM monster WHERE id = ?
    args: SELECT random(1, %[6]d)
    rows: 1
    returns: [int, text, int]
  insert-100:
    sql: INSERT INTO monster (id, name, hp) VALUES (?, ?, ?)
    args: SELECT %[6]d + :i, text(12), random(1, 9999)
    rows: 1
    transaction: 100
    count: 20000
    check: {sql: "SELECT count(*), sum(hp) FROM monster", returns: [int, int]}
`

// configurations are all of the grid, the current one first.
func configurations() []map[string]string {
	all := []map[string]string{{}}
	for _, levels := range grid {
		var more []map[string]string
		for _, level := range levels {
			for _, c := range all {
				next := maps.Clone(c)
				maps.Copy(next, level)
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// plan writes a plan with profiles, the first of which is the baseline.
func (e experiment) plan(name string, seed int, names []string, profiles map[string]map[string]string) (string, error) {
	var text strings.Builder
	for _, profile := range names {
		fmt.Fprintf(&text, "  %s: {", profile)
		for i, setting := range slices.Sorted(maps.Keys(profiles[profile])) {
			if i > 0 {
				text.WriteString(", ")
			}
			fmt.Fprintf(&text, "%s: %s", setting, profiles[profile][setting])
		}
		text.WriteString("}\n")
	}
	path := filepath.Join(e.folder, name+".yaml")
	return path, os.WriteFile(path, fmt.Appendf(nil, experimentPlan, name, seed, e.launches, names[0], text.String(), e.rows), 0o644)
}

// run runs assay with a store of its own and returns what it printed.
func (e experiment) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, e.assay, args...)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+e.folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return out, nil
}

// measured runs a plan with profiles, the first of which is the baseline, and returns their figures.
func (e experiment) measured(ctx context.Context, name string, names []string, profiles map[string]map[string]string) (map[string]series, error) {
	path, err := e.plan(name, 1, names, profiles)
	if err != nil {
		return nil, err
	}
	if _, err := e.run(ctx, "run", path, "--quiet"); err != nil {
		return nil, err
	}
	out, err := e.run(ctx, "report", "--format", "json")
	if err != nil {
		return nil, err
	}
	return seriesOf(out)
}

// perRun is how many profiles share a launch with the current one.
const perRun = 11

// cell is a configuration with its measured gain. Those of a chunk were measured in the
// same launches of the current settings.
type cell struct {
	settings map[string]string
	levels   []int // by factor of the grid
	chunk    int
	gain     float64
}

// exhaust measures all configurations, in random order.
func (e experiment) exhaust(ctx context.Context) (cells []cell, took time.Duration, err error) {
	began := time.Now()
	all := configurations()
	order := rand.New(rand.NewPCG(1, 72)).Perm(len(all) - 1)
	for i, chunk := range slices.Collect(slices.Chunk(order, perRun)) {
		names, profiles := []string{"current"}, map[string]map[string]string{"current": {}}
		for _, at := range chunk {
			name := fmt.Sprint("c", at+1)
			names, profiles[name] = append(names, name), all[at+1]
		}
		of, err := e.measured(ctx, fmt.Sprint("exhaustive-", i+1), names, profiles)
		if err != nil {
			return nil, 0, err
		}
		for _, name := range names {
			c := cell{profiles[name], levelsOf(profiles[name]), i, math.Log(of[name].against(of["current"]).Center)}
			if math.IsNaN(c.gain) {
				return nil, 0, fmt.Errorf("no launch has all operations of %s", settingsText(c.settings))
			}
			cells = append(cells, c)
			fmt.Printf("%s: %.3fx\n", settingsText(c.settings), math.Exp(c.gain))
		}
	}
	return cells, time.Since(began), nil
}

// levelsOf returns the levels of a configuration in the grid.
func levelsOf(settings map[string]string) []int {
	levels := make([]int, len(grid))
	for j, all := range grid {
		for l, level := range all[1:] {
			others := slices.DeleteFunc(slices.Collect(maps.Keys(level)), func(name string) bool { return settings[name] == level[name] })
			if len(others) == 0 {
				levels[j] = l + 1
			}
		}
	}
	return levels
}

// smoothed are the gains of the cells as the effects of all settings and of all pairs of
// settings have them, by least squares over all cells: the highest of 72 noisy figures is
// higher than it is true.
func smoothed(cells []cell) ([]float64, error) {
	columns := map[string]int{}
	number := func(key string) int {
		if _, known := columns[key]; !known {
			columns[key] = len(columns)
		}
		return columns[key]
	}
	effects := make([][]int, len(cells)) // of each cell; the last is the launches'
	for i, c := range cells {
		for j, a := range c.levels {
			for k, b := range c.levels[:j] {
				if a > 0 && b > 0 {
					effects[i] = append(effects[i], number(fmt.Sprint(j, a, k, b)))
				}
			}
			if a > 0 {
				effects[i] = append(effects[i], number(fmt.Sprint(j, a)))
			}
		}
		effects[i] = append(effects[i], number(fmt.Sprint("launches ", c.chunk)))
	}
	x, y := mat.NewDense(len(cells), len(columns), nil), mat.NewVecDense(len(cells), nil)
	for i, c := range cells {
		y.SetVec(i, c.gain)
		for _, column := range effects[i] {
			x.Set(i, column, 1)
		}
	}
	var b mat.VecDense
	if err := b.SolveVec(x, y); err != nil {
		return nil, err
	}
	gains := make([]float64, len(cells))
	for i := range cells {
		for _, column := range effects[i][:len(effects[i])-1] {
			gains[i] += b.AtVec(column)
		}
	}
	return gains, nil
}

// best are the configurations of the highest figure, and of the two highest smoothed ones.
func best(cells []cell) ([]map[string]string, error) {
	smooth, err := smoothed(cells)
	if err != nil {
		return nil, err
	}
	highest := slices.MaxFunc(cells, func(a, b cell) int { return cmp.Compare(a.gain, b.gain) })
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(smooth[b], smooth[a]) })
	return []map[string]string{highest.settings, cells[order[0]].settings, cells[order[1]].settings}, nil
}

func settingsText(settings map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, name+"="+settings[name])
	}
	return cmp.Or(strings.Join(parts, " "), "the current settings")
}

// inFolder makes the experiment in a folder of its own.
func (e experiment) inFolder(ctx context.Context) error {
	var err error
	if e.folder, err = os.MkdirTemp("", "assay-exhaustive-"); err != nil {
		return err
	}
	defer os.RemoveAll(e.folder)
	if e.assay, err = filepath.Abs(e.assay); err != nil {
		return err
	}
	return e.compare(ctx)
}
