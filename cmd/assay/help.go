package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// maxDescribed is how many commands the help of assay describes at most: who looks for a
// command reads them all.
const maxDescribed = 15

// commandGroup is a heading of assay's help with its commands.
type commandGroup struct {
	title     string
	described bool // each command with its sentence, and not its name alone
	commands  []string
}

var commandGroups = []commandGroup{
	{"Measure and decide:", true, []string{"run", "tune", "report", "compare", "runs"}},
	{"Your application:", true, []string{"init", "lint", "doctor", "crash", "gate", "emit"}},
	{"Plans and drivers:", true, []string{"plan", "plans", "drivers", "inspect"}},
	{"More:", false, []string{"audit", "history", "serve", "fleet", "agent", "load", "noise", "advisories", "help"}},
	{"For developers of drivers and of assay:", false, []string{"build", "check", "new-worker", "facts", "footprint", "completion"}},
}

// rootUsage prints the groups; commands below have cobra's own usage.
const rootUsage = `Usage: {{.CommandPath}} COMMAND [ARGUMENTS]
{{$commands := .Commands}}{{range $g := .Groups}}
{{.Title}}{{range $commands}}{{if and (eq .GroupID $g.ID) .IsAvailableCommand}}{{if described $g.Title}}
  {{rpad .Name .NamePadding}} {{.Short}}{{else}} {{.Name}}{{end}}{{end}}{{end}}
{{end}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}

"{{.CommandPath}} help COMMAND" says more about a command.
`

// groupCommands arranges the help of the root command.
func groupCommands(root *cobra.Command) {
	cobra.AddTemplateFunc("described", func(title string) bool {
		return slices.ContainsFunc(commandGroups, func(g commandGroup) bool { return g.title == title && g.described })
	})
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = g.title
			}
		}
		if slices.Contains(g.commands, "help") {
			root.SetHelpCommandGroupID(g.title)
		}
		if slices.Contains(g.commands, "completion") {
			root.SetCompletionCommandGroupID(g.title)
		}
	}
	root.SetUsageTemplate("{{if .HasParent}}" + root.UsageTemplate() + "{{else}}" + rootUsage + "{{end}}")
}
