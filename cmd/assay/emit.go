package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/build"
	"assay/internal/build/catalog"
	"assay/internal/emit"
	"assay/internal/sys/near"

	"github.com/spf13/cobra"
)

func (a *app) emitCommand() *cobra.Command {
	var profile, ecosystem string
	cmd := &cobra.Command{
		Use:   "emit --profile PLAN/NAME --for ECOSYSTEM",
		Short: "Print a profile as configuration: of Rails, Go, Python, Node, Rust, Django, SQLAlchemy or a PostgreSQL server",
		Args:  arguments(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.emit(profile, ecosystem) },
	}
	cmd.Flags().StringVar(&profile, "profile", "", "PLAN/NAME of the profile")
	cmd.Flags().StringVar(&ecosystem, "for", "", "ecosystem, "+forms)
	return cmd
}

// emit prints a profile. What the ecosystem cannot set is told on standard
// error too, and is a failure: what was printed is not the profile.
func (a *app) emit(profile, ecosystem string) error {
	if profile == "" || ecosystem == "" {
		return usage(errors.New("--profile and --for are required"), "assay help emit")
	}
	ecosystems, err := emitsFor(ecosystem)
	if err != nil {
		return err
	}
	p, name, err := planOfProfile(profile)
	if err != nil {
		return err
	}
	found, file, err := p.Profile(name)
	if err != nil {
		return usage(err)
	}
	form, err := ecosystems.For(ecosystem, emit.Source{Name: profile, Profile: found, File: file, Options: ecosystems.OptionsOf(ecosystem, p.Drivers)})
	if err != nil {
		return usage(err)
	}
	fmt.Fprint(a.stdout, form.Text)
	if len(form.Unset) > 0 {
		return fmt.Errorf("%s does not set all of profile %s:\n  %s", ecosystem, profile, strings.Join(form.Unset, "\n  "))
	}
	return nil
}

// forms is what the flags that take an ecosystem say.
const forms = "such as go-mattn, python, rails or postgresql.conf; a wrong name lists all"

// emitsFor are the ecosystems, of which a name must be one, if there is one.
func emitsFor(name string) (emit.Ecosystems, error) {
	drivers, err := knownDrivers()
	if err != nil {
		return nil, err
	}
	all, err := emit.Of(drivers)
	if known := all.Names(); err == nil && name != "" && !slices.Contains(known, name) {
		err = usage(fmt.Errorf("unknown ecosystem %q%s: there is %s", name, near.Question(name, known), strings.Join(known, ", ")))
	}
	return all, err
}

// knownDrivers is the catalog of the drivers that this program has.
func knownDrivers() ([]catalog.Driver, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	source, err := build.FindSource(cache)
	if err != nil {
		return nil, err
	}
	return source.Catalog()
}
