package plan

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// whole is number of a plan without params.
func (m *mistakes) whole(v number, what string, low, high, fallback int64) int64 {
	return (&resolver{m: m}).number(v, what, low, high, fallback)
}

// number returns a number that lies within bounds, or the fallback where the plan has none.
// Mistakes are reported.
func (r *resolver) number(v number, what string, low, high, fallback int64) int64 {
	if !v.set() {
		return fallback
	}
	if n, ok := r.env.integer(r.m, v, what, low, high); ok {
		return n
	}
	return fallback
}

func (m *mistakes) within(p place, what string, n, low, high int64) bool {
	if n < low || n > high {
		m.at(p, "%s must be %d to %d, not %d", what, low, high, n)
		return false
	}
	return true
}

var realPattern = regexp.MustCompile(`^[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?$`)

func parseReal(s string) (float64, bool) {
	if !realPattern.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil
}

// parseWhole reads an integer, also one that is written 1e6.
func parseWhole(s string) (int64, bool) {
	if !realPattern.MatchString(s) {
		return 0, false
	}
	if i, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64); err == nil {
		return i, true
	}
	const exact = 1 << 53
	f, ok := parseReal(s)
	if !ok || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, false
	}
	return int64(f), true
}

// isHuge reports whether a number that parseWhole does not read is whole, and only too
// large for it.
func isHuge(s string) bool {
	f, ok := parseReal(s)
	return ok && f == math.Trunc(f)
}

// plain writes a whole number without exponent, and anything else as it is,
// so that 1e6 and 1000000 are the same value of an axis.
func plain(s string) string {
	if i, ok := parseWhole(s); ok {
		return strconv.FormatInt(i, 10)
	}
	return s
}

// ofAxis is a value of an axis: what is quoted is a text, and stays as it is.
func (s scalar) ofAxis() string {
	if s.quoted {
		return s.value
	}
	return plain(s.value)
}

// duration reads a length of time such as 90s or 2m. The schema does not know 0s and 1.2.3s.
func (m *mistakes) duration(t text, fallback time.Duration) time.Duration {
	d, err := time.ParseDuration(t.value)
	switch {
	case !t.set():
		return fallback
	case err != nil || d <= 0:
		m.at(t.place, "want a duration above zero such as 90s or 2m, not %q", t.value)
	}
	return d
}

// share reads a share, written 2% or 0.02, with its default of 2 %.
func (m *mistakes) share(t text, what string) float64 {
	if !t.set() {
		return 0.02
	}
	digits, percent := strings.CutSuffix(t.value, "%")
	share, _ := parseReal(digits)
	if percent {
		share /= 100
	}
	if share <= 0 || share > maxShare {
		m.at(t.place, "%s must be above 0%% and at most 50%%, not %g%%", what, share*100)
	}
	return share
}
