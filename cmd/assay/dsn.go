package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/internal/doctor"
	"assay/internal/lint/facts"
	"assay/internal/sys/printable"
	"assay/kit/kv"
	"assay/kit/sqlite"
)

// onCopy is a DSN with a copy in the place of the file that it names; false where
// it names another file.
func onCopy(dsn, path, copied string) (string, bool) {
	name, query, asked := strings.Cut(dsn, "?")
	if asked {
		query = "?" + query
	}
	bare, uri := strings.CutPrefix(name, "file:")
	if !uri {
		return copied + query, sameFile(name, path)
	}
	for _, host := range []string{"//localhost/", "///"} {
		if rest, there := strings.CutPrefix(bare, host); there {
			bare = "/" + rest
		}
	}
	plain, err := url.PathUnescape(bare)
	return "file:" + sqlite.EscapePath(copied) + query, err == nil && sameFile(plain, path) || sameFile(bare, path)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// askedBy are the parameters of a DSN. Facts, which may be those of no driver, say
// what works instead.
func askedBy(dsn string, f facts.Facts) []doctor.Asked {
	_, query, _ := strings.Cut(dsn, "?")
	uri := strings.HasPrefix(dsn, "file:")
	var all []doctor.Asked
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter == "" {
			continue
		}
		a := doctor.Asked{Parameter: parameter}
		if s, value, named := facts.Named(uri, parameter); named {
			a.Setting, a.Fix = s.Setting, fixOf(s, value, uri, f)
			a.Value, _ = s.Reads(value)
		}
		all = append(all, a)
	}
	return all
}

// fixOf is how a connection gets a setting.
func fixOf(s facts.Spelling, value string, uri bool, f facts.Facts) string {
	if works := f.Working(s.Setting, uri); len(works) > 0 {
		return "write " + works[0].With(value) + " in the DSN, once"
	}
	if setting, _ := sqlite.Lookup(s.Setting); !setting.Pragma {
		return "leave it out, or look into the driver's documentation for how it opens a file so"
	}
	return "PRAGMA " + s.Setting + " = " + value + " on each connection"
}

// printSettings prints what a DSN asks for, and what settings read back as.
func (e examined) printSettings(out io.Writer) error {
	if e.settings == nil {
		return nil
	}
	fmt.Fprintf(out, "\nsettings of a connection:\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tASKED\tREADS BACK")
	for _, name := range slices.Sorted(maps.Keys(e.settings)) {
		var asked []string
		for _, a := range e.asked {
			if a.Setting == name {
				asked = append(asked, printable.String(a.Parameter))
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, cmp.Or(strings.Join(asked, ", "), "-"), cmp.Or(kv.Word(name, e.settings[name]), "-"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, a := range e.asked {
		if _, read := e.settings[a.Setting]; !read {
			fmt.Fprintf(out, "not read back: %s\n", printable.String(a.Parameter))
		}
	}
	return nil
}
