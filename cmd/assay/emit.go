package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/emit"
	"assay/internal/sys/near"

	"github.com/spf13/cobra"
)

func (a *app) emitCommand() *cobra.Command {
	var profile, ecosystem string
	cmd := &cobra.Command{
		Use:   "emit --profile PLAN/NAME --for ECOSYSTEM",
		Short: "Print a profile as configuration: of Rails, Go, Python, Node, Django, SQLAlchemy or a PostgreSQL server",
		Args:  arguments(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.emit(profile, ecosystem) },
	}
	cmd.Flags().StringVar(&profile, "profile", "", "PLAN/NAME of the profile")
	cmd.Flags().StringVar(&ecosystem, "for", "", strings.Join(emit.Names(), ", "))
	return cmd
}

// emit prints a profile. What the ecosystem cannot set is told on standard
// error too, and is a failure: what was printed is not the profile.
func (a *app) emit(profile, ecosystem string) error {
	if profile == "" || ecosystem == "" {
		return usage(errors.New("--profile and --for are required"), "assay help emit")
	}
	if known := emit.Names(); !slices.Contains(known, ecosystem) {
		return usage(unknownEcosystem(ecosystem))
	}
	p, name, err := planOfProfile(profile)
	if err != nil {
		return err
	}
	found, file, err := p.Profile(name)
	if err != nil {
		return usage(err)
	}
	form, err := emit.For(ecosystem, emit.Source{Name: profile, Profile: found, File: file, Options: emit.OptionsOf(ecosystem, p.Drivers)})
	if err != nil {
		return usage(err)
	}
	fmt.Fprint(a.stdout, form.Text)
	if len(form.Unset) > 0 {
		return fmt.Errorf("%s does not set all of profile %s:\n  %s", ecosystem, profile, strings.Join(form.Unset, "\n  "))
	}
	return nil
}

// unknownEcosystem names all that there are, and the one that was probably meant.
func unknownEcosystem(name string) error {
	known := emit.Names()
	return fmt.Errorf("unknown ecosystem %q%s: there is %s", name, near.Question(name, known), strings.Join(known, ", "))
}
