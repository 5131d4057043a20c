package seeded

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func connected(t testing.TB, seed uint64) *Session {
	t.Helper()
	s, done, err := Connect(t.Context(), ":memory:", seed)
	must(t, err)
	t.Cleanup(func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	})
	must(t, s.Begin(t.Context(), "test"))
	return s
}

// numbers returns one column of whole numbers.
func numbers(t testing.TB, s *Session, query string) []int64 {
	t.Helper()
	rows, err := s.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	var all []int64
	for rows.Next() {
		var n int64
		must(t, rows.Scan(&n))
		all = append(all, n)
	}
	must(t, rows.Err())
	return all
}

func TestSeries(t *testing.T) {
	s := connected(t, 1)
	for query, want := range map[string][]int64{
		"SELECT value FROM generate_series(1, 3)":                                                                    {1, 2, 3},
		"SELECT value FROM generate_series(0, 10, 4)":                                                                {0, 4, 8},
		"SELECT value FROM generate_series(3, 1, -1)":                                                                {3, 2, 1},
		"SELECT value FROM generate_series(2, 1)":                                                                    nil,
		"SELECT value FROM generate_series(1e0, 2.0)":                                                                {1, 2},
		"SELECT b.value FROM generate_series(1, 3) AS a, generate_series(1, a.value) AS b":                           {1, 1, 2, 1, 2, 3},
		"SELECT value FROM generate_series(9223372036854775806, 9223372036854775807)":                                {math.MaxInt64 - 1, math.MaxInt64},
		"SELECT value FROM generate_series(1, 9) WHERE value % 4 = 0":                                                {4, 8},
		"SELECT value FROM generate_series(1, 5) ORDER BY value DESC LIMIT 2":                                        {5, 4},
		"SELECT count(*) FROM generate_series(1, 1000) AS a JOIN generate_series(1, 1000) AS b ON a.value = b.value": {1000},
	} {
		if got := numbers(t, s, query); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
}

// shares returns how often each number of [1, n] comes in so many draws.
func shares(t *testing.T, expression string, n, draws int) []float64 {
	t.Helper()
	all := make([]float64, n+1)
	for _, v := range numbers(t, connected(t, 7), fmt.Sprintf("SELECT %s FROM generate_series(1, %d)", expression, draws)) {
		all[v] += 1 / float64(draws)
	}
	return all
}

// TestDistributions compares with the formulas of pgbench's manual: of random_zipfian, that
// number k comes (k/(k+1))^-s times as often as k+1; of the two others, the shares of each
// number by their densities.
func TestDistributions(t *testing.T) {
	const n, draws, parameter = 20, 200_000, 2.5
	zeta := 0.0
	for k := range n {
		zeta += math.Pow(float64(k+1), -1.07)
	}
	phi := func(x float64) float64 { return 0.5 * (1 + math.Erf(x/math.Sqrt2)) }
	for expression, want := range map[string]func(k float64) float64{
		"random(1, 20)":               func(float64) float64 { return 1.0 / n },
		"random_zipfian(1, 20, 1.07)": func(k float64) float64 { return math.Pow(k, -1.07) / zeta },
		"random_exponential(1, 20, 2.5)": func(k float64) float64 {
			return (math.Exp(-parameter*(k-1)/n) - math.Exp(-parameter*k/n)) / (1 - math.Exp(-parameter))
		},
		"random_gaussian(1, 20, 2.5)": func(k float64) float64 {
			x := func(k float64) float64 { return 2 * parameter * (k/n - 0.5) }
			return (phi(x(k)) - phi(x(k-1))) / (2*phi(parameter) - 1)
		},
	} {
		for k, got := range shares(t, expression, n, draws) {
			if k == 0 {
				continue
			}
			share := want(float64(k))
			if margin := 5 * math.Sqrt(share*(1-share)/draws); math.Abs(got-share) > margin {
				t.Errorf("%s: %d has a share of %.5f, want %.5f ± %.5f", expression, k, got, share, margin)
			}
		}
	}
}

func TestPermute(t *testing.T) {
	s := connected(t, 1)
	for _, size := range []int64{1, 2, 3, 10, 1000, 1025} {
		got := numbers(t, s, fmt.Sprintf("SELECT permute(value, %d) FROM generate_series(0, %[1]d - 1)", size))
		moved := 0
		for i, v := range got {
			if v != int64(i) {
				moved++
			}
		}
		if size > 10 && moved < int(size)*9/10 {
			t.Errorf("of %d numbers only %d moved", size, moved)
		}
		slices.Sort(got)
		for i, v := range got {
			if v != int64(i) {
				t.Fatalf("permute of %d gives %d where %d is next", size, v, i)
			}
		}
	}
	if got := numbers(t, s, "SELECT permute(5, 1000, 1) <> permute(5, 1000, 2) AND permute(5, 1000, 1) = permute(1005, 1000, 1)"); got[0] != 1 {
		t.Error("permute does not follow from its seed and the number modulo the size")
	}
}

// TestSeed holds that values follow from the seed and the stream, and how they look.
func TestSeed(t *testing.T) {
	const query = "SELECT text(7), hex(blob(3)), length(text(0)), length(blob(210)), random(-5, -5), hash(1) = hash(1), typeof(random(1, 9) / 10.0) FROM generate_series(1, 2)"
	print := func(s *Session) string {
		rows, err := s.QueryContext(t.Context(), query)
		must(t, err)
		defer rows.Close()
		text := ""
		for rows.Next() {
			var v [7]any
			must(t, rows.Scan(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]))
			text += fmt.Sprintln(v[:]...)
		}
		return text
	}
	first, other := connected(t, 1), connected(t, 2)
	one, two := print(first), print(other)
	if want := "traznzq 37EB8C 0 210 -5 1 real\njavzinh 8CFB97 0 210 -5 1 real\n"; one != want {
		t.Errorf("got %q, want %q", one, want)
	}
	if one == two {
		t.Error("two seeds give the same values")
	}
	must(t, first.Begin(t.Context(), "test"))
	if again := print(first); again != one {
		t.Errorf("the same stream gives %q, and then %q", one, again)
	}
	must(t, first.Begin(t.Context(), "other"))
	if third := print(first); third == one {
		t.Error("two streams give the same values")
	}
}

func TestRefusedCalls(t *testing.T) {
	s := connected(t, 1)
	for _, call := range []string{
		"random(2, 1)", "random(1)", "random(1, 2, 3)", "random(1.5, 2)", "random('a', 2)", "random(-9223372036854775808, 9223372036854775807)",
		"random_zipfian(1, 9, 1)", "random_zipfian(1, 9)", "random_gaussian(1, 9, 1.9)", "random_exponential(1, 9, 0)",
		"text(-1)", "text(1, 2)", "blob(100000000)", "hash()", "permute(1)",
	} {
		var got any
		if err := s.QueryRowContext(t.Context(), "SELECT "+call).Scan(&got); err == nil {
			t.Errorf("%s is %v, want an error", call, got)
		}
	}
}

// TestOwnRandom holds that schemas can have SQLite's own random().
func TestOwnRandom(t *testing.T) {
	if got := numbers(t, connected(t, 1), "SELECT typeof(random()) = 'integer'"); got[0] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestForEach holds that an expression is evaluated for each operation, also what stands in
// a subquery, and that a row depends on its position alone, though two are read in turns.
func TestForEach(t *testing.T) {
	s := connected(t, 1)
	if _, err := s.ExecContext(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER); INSERT INTO t SELECT value, 2 * value FROM generate_series(1, 1000)"); err != nil {
		t.Fatal(err)
	}
	inOrder := func(row int) (int64, int) { return int64(row + 1), row }
	open := func(rows int, at func(int) (int64, int)) func() [3]int64 {
		found, err := s.ForEach(t.Context(), "SELECT :i, random(1, 1000), (SELECT x FROM t WHERE id = random(1, 1000)) -- :i\n;", Each{Stream: "a", Rows: rows, At: at})
		must(t, err)
		t.Cleanup(func() { found.Close() })
		return func() (v [3]int64) {
			if !found.Next() {
				t.Fatal(found.Err())
			}
			must(t, found.Scan(&v[0], &v[1], &v[2]))
			return v
		}
	}
	forward := open(100, inOrder)
	backward := open(100, func(row int) (int64, int) { return int64(100 - row), 99 - row })
	var there, back [][3]int64
	for range 100 {
		there, back = append(there, forward()), append(back, backward())
	}
	slices.Reverse(back)
	if !slices.Equal(there, back) {
		t.Errorf("forward %v, backward %v", there, back)
	}
	drawn, looked := map[int64]bool{}, map[int64]bool{}
	for i, v := range there {
		if v[0] != int64(i+1) {
			t.Errorf("operation %d has :i %d", i, v[0])
		}
		drawn[v[1]], looked[v[2]] = true, true
	}
	if len(drawn) < 80 || len(looked) < 80 {
		t.Errorf("100 operations have %d and %d different values", len(drawn), len(looked))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
