package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/advisories"
	"assay/internal/doc"
	"assay/internal/doctor"
	"assay/internal/lab"
	"assay/internal/lint/facts"
	"assay/internal/plan"
	"assay/internal/sys/file"
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
		return doc.WriteList(a.stdout, one.document(), a.columns())
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
	return doc.WriteList(a.stdout, differences(one, other), 0)
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
	p, err = readPlanBy(plan.DecodeReplay, profile[:i]) // settings need no arguments
	return p, profile[i+1:], err
}

// document shows an inspection. Only its sentences are broken: settings are read in a table,
// and a DSN is copied.
func (i *inspection) document() doc.Document {
	t := i.target
	var d doc.Document
	d.Add(doc.Paragraph, "%s", i.name)
	facts := doc.Grid{Header: []string{"", ""}, Prose: true}
	add := func(name, text string) { facts.Rows = append(facts.Rows, []string{name, text}) }
	add("driver", t.Name())
	add("engine", t.Engine+" "+t.EngineVersion)
	add("build", t.Build)
	for _, name := range slices.Sorted(maps.Keys(t.Facts)) {
		add(name, t.Facts[name])
	}
	add("DSN", cmp.Or(i.trial.DSN, "-"))
	for _, bug := range advisories.OfTarget(t) {
		add("known bug", bug.Sentence()+": "+bug.URL)
	}
	for _, w := range i.trial.Warnings {
		if w.Code == "caution" {
			add(w.Code, w.Evidence+"; "+w.Advice)
		}
	}
	for _, text := range i.trial.Each {
		add("each connection", text)
	}
	add("outcome", string(i.trial.Outcome))
	if i.trial.Reason != "" {
		add("because", i.trial.Reason)
	}
	d.AddTable(facts)
	d = append(d, doc.Listing(i.settings())...)
	d.AddLines(doc.Code, strings.Join(append([]string{"compile options"}, t.CompileOptions...), "\n  "))
	return d
}

// settings are a row for each setting, and more where connections differ.
func (i *inspection) settings() doc.Grid {
	grid := doc.Grid{Header: []string{"SETTING", "REQUESTED", "ISSUED", "EFFECTIVE", "APPLIED", "CONNECTIONS"}}
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
		grid.Rows = append(grid.Rows, []string{l.name, l.requested, l.issued, l.effective, l.applied, span(connections[l])})
	}
	return grid
}

// span shortens a list of connections.
func span(names []string) string {
	if len(names) <= 2 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s ... %s (%d)", names[0], names[len(names)-1], len(names))
}

// differences returns what two inspections do not share.
func differences(a, b *inspection) doc.Document {
	grid := doc.Grid{Header: []string{"", a.name, b.name}}
	x, y := a.facts(), b.facts()
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if x[name] != y[name] {
			grid.Rows = append(grid.Rows, []string{name, cmp.Or(x[name], "-"), cmp.Or(y[name], "-")})
		}
	}
	return doc.Listing(grid)
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
		return copied + query, file.Same(name, path)
	}
	for _, host := range []string{"//localhost/", "///"} {
		if rest, there := strings.CutPrefix(bare, host); there {
			bare = "/" + rest
		}
	}
	plain, err := url.PathUnescape(bare)
	return "file:" + sqlite.EscapePath(copied) + query, err == nil && file.Same(plain, path) || file.Same(bare, path)
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
			a.Setting, a.Fix = s.Meaning, fixOf(s, value, uri, f)
			a.Value, _ = s.Reads(value)
		}
		all = append(all, a)
	}
	return all
}

// fixOf returns how a connection gets a setting.
func fixOf(s facts.Option, value string, uri bool, f facts.Facts) string {
	if works := f.WorkingIn(s.Meaning, uri); len(works) > 0 {
		return "write " + works[0].With(value) + " in the DSN, once"
	}
	if setting, _ := sqlite.Lookup(s.Meaning); !setting.Pragma {
		return "leave it out, or look into the driver's documentation for how it opens a file so"
	}
	return "PRAGMA " + s.Meaning + " = " + value + " on each connection"
}

// readBack returns what a DSN asks for, and what settings read back as.
func (e examined) readBack() (d doc.Document) {
	if e.settings == nil {
		return nil
	}
	d.Add(doc.Paragraph, "settings of a connection:")
	grid := doc.Grid{Header: []string{"SETTING", "ASKED", "READS BACK"}}
	var unread []string
	asked := map[string][]string{}
	for _, a := range e.asked {
		asked[a.Setting] = append(asked[a.Setting], a.Parameter)
		if _, read := e.settings[a.Setting]; !read {
			unread = append(unread, "not read back: "+a.Parameter)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.settings)) {
		grid.Rows = append(grid.Rows, []string{name, cmp.Or(strings.Join(asked[name], ", "), "-"), cmp.Or(kv.Word(name, e.settings[name]), "-")})
	}
	d = append(d, doc.Listing(grid)...)
	d.AddSome(doc.Footnote, unread...)
	return d
}
