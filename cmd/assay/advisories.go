package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"assay/internal/advisories"
	"assay/internal/analysis/wording"
	"assay/internal/sys/format"

	"github.com/spf13/cobra"
)

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
