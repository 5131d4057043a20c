package main

import (
	"io"

	"assay/internal/advisories"
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
			rows := [][]string{{"ID", "OF", "VERSIONS", "WHAT", "SOURCE"}}
			for _, bug := range all {
				rows = append(rows, []string{bug.ID, bug.Engine + bug.Library, bug.Versions(), bug.Sentence(), bug.Source + ", " + bug.Date + ": " + bug.URL})
			}
			return writeTable(out, a.columns(), rows)
		}},
		{Name: "json", Write: func(out io.Writer, all []advisories.Advisory) error { return format.JSON(out, all) }},
	})
	return cmd
}
