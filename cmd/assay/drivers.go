package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/advisories"
	"assay/internal/analysis/wording"
	"assay/internal/build"
	"assay/internal/doc"
	"assay/internal/sys/format"
	"assay/internal/sys/printable"
	"assay/kit/wire"
)

func (a *app) driversCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "drivers",
		Short: "List the drivers: versions, engine, API, licence; --build also builds and lists those not built yet",
		Args:  arguments(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listDrivers(cmd.Context(), all) },
	}
	cmd.Flags().BoolVar(&all, "build", false, "build the workers that are not built yet")
	return cmd
}

func (a *app) listDrivers(ctx context.Context, all bool) error {
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	drivers, err := l.Source.Drivers()
	if err != nil {
		return err
	}
	grid := doc.Grid{Header: []string{"DRIVER", "VERSION", "ENGINE", "CGO", "API", "LICENCE", "RELEASED", "ABOUT"}, Prose: true}
	var unbuilt, problems []string
	for _, d := range drivers {
		described := l.Describe(ctx, d, all)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if described.Problem != nil {
			problems = append(problems, d.Name+": not available: "+described.Problem.Error())
		} else if !described.Built {
			unbuilt = append(unbuilt, d.Name)
		}
		grid.Rows = append(grid.Rows, driverRow(ctx, d, described.Target))
	}
	list := doc.Listing(grid)
	if len(unbuilt) > 0 {
		list.Add(doc.Paragraph, "Not built yet: %s. Run %s to build and describe them.", strings.Join(unbuilt, ", "), wording.Command("", "drivers", "--build"))
	}
	if len(problems) > 0 {
		list.AddLines(doc.Code, fold(a.columns(), printable.String(strings.Join(problems, "\n\n"))))
	}
	return doc.WriteList(a.stdout, list, a.columns())
}

// about returns what a driver is, and what to know before choosing it.
func about(d build.Driver) string {
	if d.Caution == "" {
		return d.About
	}
	return strings.TrimSpace("not in *, " + d.Caution + ": " + d.About)
}

// driverRow is a driver's row of the table. What is not known is a dash.
func driverRow(ctx context.Context, d build.Driver, target wire.Target) []string {
	library, err := d.Library(ctx)
	if err != nil {
		library = build.Module{} // it was not fetched yet: nothing is known
	}
	released := ""
	if !library.Released.IsZero() {
		released = library.Released.Format(time.DateOnly)
	}
	version := cmp.Or(target.DriverVersion, d.Pinned)
	columns := []string{d.Name, version, strings.TrimSpace(target.Engine + " " + strings.TrimSuffix(target.EngineVersion, "server")),
		target.Facts["cgo"], target.Facts["api"], library.Licence, released, about(d)}
	for i, text := range columns {
		columns[i] = cmp.Or(text, "-")
	}
	return columns
}

// advisoriesCommand prints the table of known faults of engines.
func (a *app) advisoriesCommand() *cobra.Command {
	var flags outputs[[]advisories.Advisory]
	cmd := &cobra.Command{
		Use:   "advisories",
		Short: "List known faults of engine versions that lose or damage data, with their sources",
		Args:  arguments(0, 0),
		RunE:  func(*cobra.Command, []string) error { return flags.write(a.stdout, advisories.All()) },
	}
	flags.addFormat(cmd, format.List[[]advisories.Advisory]{
		{Name: "text", Write: func(out io.Writer, all []advisories.Advisory) error {
			width := cmp.Or(a.columns(), 100)
			for _, bug := range all {
				for _, line := range [][]string{
					wording.Wrap(width, "", "  ", bug.ID+": "+bug.Engine+bug.Library+" "+bug.Versions()),
					wording.Wrap(width, "  ", "  ", bug.Sentence()),
					{"  " + bug.Source + ", " + bug.Date + ": " + bug.URL, ""}, // what is there to be copied is not broken
				} {
					if _, err := fmt.Fprintln(out, strings.Join(line, "\n")); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{Name: "json", Write: func(out io.Writer, all []advisories.Advisory) error { return format.JSON(out, all) }},
	})
	return cmd
}
