package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assay/internal/analysis/wording"
	"assay/internal/sys/near"
)

// anyNumber of arguments may follow those that a command needs.
const anyNumber = -1

// arguments makes a wrong number of arguments a usage error.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		var err error
		switch {
		case len(args) < least && most == anyNumber:
			err = fmt.Errorf("%s needs at least %s, and got %d", cmd.CommandPath(), wording.Plural(least, "argument"), len(args))
		case len(args) < least:
			err = fmt.Errorf("%s needs %s, and got %d", cmd.CommandPath(), wording.Plural(least, "argument"), len(args))
		case most == 0 && len(args) > 0:
			err = fmt.Errorf("%s takes no arguments, and got %q", cmd.CommandPath(), args[0])
		case most != anyNumber && len(args) > most:
			err = fmt.Errorf("%s takes at most %s, and got %d", cmd.CommandPath(), wording.Plural(most, "argument"), len(args))
		}
		return usage(err, cmd.UseLine())
	}
}

// flagError says what is wrong with a flag. What the packages say that read flags names
// their own functions.
func flagError(cmd *cobra.Command, err error) error {
	hints := []string{strings.TrimSpace("assay help " + strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "assay"), " "))}
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	var misspelled *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		err = fmt.Errorf("%s has no flag -%s", cmd.CommandPath(), unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		err = fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		if meant := near.Word(name, known); meant != "" {
			hints = append([]string{"did you mean --" + meant + "?"}, hints...)
		}
	case errors.As(err, &bare):
		err = fmt.Errorf("--%s needs a value: %s", bare.GetFlag().Name, bare.GetFlag().Usage)
	case errors.As(err, &wrong):
		err = valueError(wrong)
	case errors.As(err, &misspelled):
		err = fmt.Errorf("%s is not how a flag is written: want --NAME or --NAME=VALUE", misspelled.GetSpecifiedFlag())
	}
	return usage(err, hints...)
}

// wanted says by the type of a flag what it takes. Other flags say so themselves.
var wanted = map[string]string{
	"bool":         "true or false",
	"duration":     "a time such as 90s, 5m or 1h30m",
	"float64Slice": "numbers, separated by commas",
	"int":          "a whole number",
	"stringSlice":  "names, separated by commas",
	"uint64":       "a whole number that is not negative",
}

func valueError(wrong *pflag.InvalidValueError) error {
	flag, cause := wrong.GetFlag(), errors.Unwrap(wrong)
	want := wanted[flag.Value.Type()]
	switch {
	case errors.Is(cause, strconv.ErrRange):
		return fmt.Errorf("--%s %q: the number is too large", flag.Name, wrong.GetValue())
	case want != "":
		return fmt.Errorf("--%s %q: want %s", flag.Name, wrong.GetValue(), want)
	case strings.HasPrefix(cause.Error(), "--"): // it names the flag
		return cause
	}
	return fmt.Errorf("--%s: %w", flag.Name, cause)
}

// checkTopics refuses to show the help of a command that does not exist: the list of all
// commands would pass for it.
func checkTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() == "help" {
			help.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || !found.HasSubCommands() {
					return err
				}
				return noSubcommand(found, rest)
			}
		}
	}
}

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
	{"More:", false, []string{"audit", "history", "serve", "gallery", "load", "noise", "bundle", "advisories", "help"}},
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
