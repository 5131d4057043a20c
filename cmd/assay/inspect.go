package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/advisories"
	"assay/internal/doctor"
	"assay/internal/lab"
	"assay/internal/lint/facts"
	"assay/internal/plan"
	"assay/internal/sys/printable"
	"assay/kit/kv"
	"assay/kit/sqlite"
)

func (a *app) inspectCommand() *cobra.Command {
	var profile, diff string
	cmd := &cobra.Command{
		Use:   "inspect DRIVER[@VERSION]",
		Short: "Show how a driver applies a profile: every setting, requested, issued and effective, on every connection",
		Args:  arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.inspect(cmd.Context(), args[0], profile, diff)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "quick/default", "PLAN/NAME of the profile")
	cmd.Flags().StringVar(&diff, "diff", "", "show the differences to another driver, or to another PLAN/NAME")
	return cmd
}

// inspection is a driver with a profile as it is shown.
type inspection struct {
	name   string
	target assay.Target
	trial  assay.Trial
}

func (a *app) inspect(ctx context.Context, driver, profile, diff string) error {
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	one, err := inspectOne(ctx, l, driver, profile)
	if err != nil {
		return err
	}
	if diff == "" {
		a.progress.close()
		return one.print(a.stdout, a.columns())
	}
	otherDriver, otherProfile := diff, profile
	if strings.Contains(diff, "/") {
		otherDriver, otherProfile = driver, diff
	}
	other, err := inspectOne(ctx, l, otherDriver, otherProfile)
	if err != nil {
		return err
	}
	a.progress.close()
	return printDifferences(a.stdout, one, other)
}

func inspectOne(ctx context.Context, l *lab.Lab, driver, profile string) (*inspection, error) {
	p, name, err := planOfProfile(profile)
	if err != nil {
		return nil, err
	}
	found, err := l.Inspect(ctx, p, driver, name)
	if err != nil {
		return nil, err
	}
	return &inspection{driver + " with " + profile, found.Target, found.Trial}, nil
}

// planOfProfile reads the plan of PLAN/NAME.
func planOfProfile(profile string) (p *plan.Plan, name string, err error) {
	i := strings.LastIndex(profile, "/")
	if i < 0 {
		return nil, "", usage(fmt.Errorf("--profile %q: want PLAN/NAME", profile), "assay plans lists the plans")
	}
	p, err = readPlan(profile[:i])
	return p, profile[i+1:], err
}

// print prints an inspection for a terminal of so many columns; 0: there is none. Only
// its sentences are broken: settings are read in a table, and a DSN is copied.
func (i *inspection) print(out io.Writer, columns int) error {
	t := i.target
	fmt.Fprintf(out, "%s\n\ndriver   %s\nengine   %s %s\nbuild    %s\n", i.name, t.Name(), t.Engine, t.EngineVersion, t.Build)
	for _, name := range slices.Sorted(maps.Keys(t.Facts)) {
		fmt.Fprintln(out, labelled(columns, fmt.Sprintf("%-8s ", name), t.Facts[name]))
	}
	fmt.Fprintf(out, "DSN      %s\n", cmp.Or(i.trial.DSN, "-"))
	for _, bug := range advisories.OfTarget(t) {
		fmt.Fprintln(out, labelled(columns, "known bug ", bug.Sentence()+": "+bug.URL))
	}
	for _, text := range i.trial.Each {
		fmt.Fprintf(out, "on every new connection: %s\n", text)
	}
	fmt.Fprintf(out, "outcome  %s\n", i.trial.Outcome)
	if i.trial.Reason != "" {
		fmt.Fprintln(out, labelled(columns, "because  ", i.trial.Reason))
	}
	fmt.Fprintln(out)
	if err := i.printSettings(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\ncompile options\n")
	for _, option := range t.CompileOptions {
		fmt.Fprintln(out, " ", option)
	}
	return nil
}

// printSettings prints a line for each setting, and more where connections
// differ.
func (i *inspection) printSettings(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tREQUESTED\tISSUED\tEFFECTIVE\tAPPLIED\tCONNECTIONS")
	type line struct{ name, requested, issued, effective, applied string }
	var order []line
	connections := map[line][]string{}
	for _, s := range i.trial.Settings {
		applied := "-"
		if s.Requested != "" {
			applied = map[bool]string{true: "yes", false: "NO"}[s.Applied]
		}
		l := line{s.Name, cmp.Or(kv.Word(s.Name, s.Requested), "-"), cmp.Or(s.Issued, "-"), cmp.Or(kv.Word(s.Name, s.Effective), "-"), applied}
		if connections[l] == nil {
			order = append(order, l)
		}
		connections[l] = append(connections[l], s.Connection)
	}
	slices.SortStableFunc(order, func(a, b line) int { return strings.Compare(a.name, b.name) })
	for _, l := range order {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", l.name, l.requested, l.issued, l.effective, l.applied, span(connections[l]))
	}
	return w.Flush()
}

// span shortens a list of connections.
func span(names []string) string {
	if len(names) <= 2 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s ... %s (%d)", names[0], names[len(names)-1], len(names))
}

// printDifferences prints what two inspections do not share.
func printDifferences(out io.Writer, a, b *inspection) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\t%s\t%s\n", a.name, b.name)
	x, y := a.facts(), b.facts()
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if x[name] != y[name] {
			fmt.Fprintf(w, "%s\t%s\t%s\n", name, cmp.Or(x[name], "-"), cmp.Or(y[name], "-"))
		}
	}
	return w.Flush()
}

func (i *inspection) facts() map[string]string {
	facts := map[string]string{"driver": i.target.Name(), "engine": i.target.Engine + " " + i.target.EngineVersion,
		"DSN": i.trial.DSN, "outcome": strings.TrimSuffix(string(i.trial.Outcome)+": "+i.trial.Reason, ": ")}
	for name, value := range i.target.Facts {
		facts["fact "+name] = value
	}
	for _, option := range i.target.CompileOptions {
		name, value, _ := strings.Cut(option, "=")
		facts["option "+name] = cmp.Or(value, "set")
	}
	for _, s := range i.trial.Settings {
		key := "setting " + s.Name
		if !slices.Contains(strings.Split(facts[key], " / "), s.Effective) {
			facts[key] = strings.TrimPrefix(facts[key]+" / "+s.Effective, " / ")
		}
	}
	return facts
}

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
