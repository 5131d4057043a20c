package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/internal/build/catalog"
	"assay/internal/lint/facts"
)

// olderAndNewer are the facts of modernc v1.54.0, which ignores _journal_mode, and of v1.55.0,
// which applies it.
func olderAndNewer(t *testing.T) (older, newer facts.Facts) {
	t.Helper()
	drivers, err := catalog.Read("../../workers")
	must(t, err)
	table, err := facts.Load(drivers, "")
	must(t, err)
	older, has := table.Find("modernc", "v1.54.0")
	newer, also := table.Find("modernc", "v1.55.0")
	if !has || !also {
		t.Fatal("no facts of modernc v1.54.0 and v1.55.0")
	}
	return older, newer
}

// noDSN is the version of SQLite of a driver that takes no DSN.
type noDSN string

// A head that fails where the base works is a regression, if it fails twice. A base
// that fails leaves the comparison undecided.
func TestFindEffects(t *testing.T) {
	older, newer := olderAndNewer(t)
	crash, full := errors.New("worker ended: signal: segmentation fault"), errors.New("no space left on device")
	for name, c := range map[string]struct {
		base, head []any // facts or an error of each experiment
		lost, open string
	}{
		"the head fails twice":   {[]any{older, older}, []any{crash, errors.New("worker ended: another pid")}, "the experiments with parameters of a DSN fail: " + crash.Error() + "; they do not with modernc@v1.54.0", ""},
		"the head fails once":    {[]any{older, older}, []any{crash, older}, "", "which a second experiment did not confirm"},
		"the base fails":         {[]any{full}, nil, "", "the parameters of a DSN were not compared: no space left on device"},
		"then the base fails":    {[]any{older, full}, []any{crash}, "", "no space left on device"},
		"a loss that shows once": {[]any{newer, newer}, []any{older, newer}, "", "_journal_mode in a DSN is ignored"},
		"a loss that shows next": {[]any{newer, newer}, []any{crash, older}, "", "which the first experiment did not show"},
		"a loss":                 {[]any{newer, newer}, []any{older, older}, "_journal_mode in a DSN is ignored", ""},
		"nothing":                {[]any{newer}, []any{newer}, "", ""},
		"no driver of SQLite":    {[]any{noDSN("")}, nil, "", ""},
		"no DSN":                 {[]any{noDSN("3.51.3")}, []any{noDSN("3.51.4")}, "", ""},
		"no DSN, and a fault":    {[]any{noDSN("3.51.3"), noDSN("3.51.3")}, []any{noDSN("3.52.0"), noDSN("3.52.0")}, "has SQLite 3.52.0", ""},
	} {
		next := func(all *[]any) func() (facts.Facts, error) {
			return func() (facts.Facts, error) {
				if len(*all) == 0 {
					t.Fatalf("%s: one experiment more than expected", name)
				}
				one := (*all)[0]
				*all = (*all)[1:]
				if engine, is := one.(noDSN); is {
					return facts.Facts{Common: facts.Common{Engine: string(engine)}}, fmt.Errorf("facts of it: %w", &facts.NoDSNError{})
				}
				if err, failed := one.(error); failed {
					return facts.Facts{}, err
				}
				return one.(facts.Facts), nil
			}
		}
		e := FindEffects(next(&c.base), next(&c.head))
		lost, open := fmt.Sprint(e.Lost), strings.Join(e.Open, "; ")
		if !strings.Contains(lost, c.lost) || (c.lost == "") != (len(e.Lost) == 0) || !strings.Contains(open, c.open) || (c.open == "") != (open == "") {
			t.Errorf("%s: got lost %s and open %q, want %q and %q", name, lost, open, c.lost, c.open)
		}
		if len(c.base)+len(c.head) > 0 {
			t.Errorf("%s: %d experiments were not made", name, len(c.base)+len(c.head))
		}
	}
}
