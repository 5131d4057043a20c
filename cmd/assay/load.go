package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/internal/doc"
	"assay/internal/runner/load"
	"assay/internal/stat"
	"assay/internal/sys/format"
	"assay/internal/sys/near"

	"github.com/spf13/cobra"
)

// loadFlags holds what the load subcommand was asked for.
type loadFlags struct {
	config   load.Config
	rates    []float64
	duration time.Duration
	arrivals string
	outputs[loaded]
}

type loaded struct {
	clients  int
	rates    []float64 // 0: as fast as answers come
	arrivals string
	results  []load.Result
}

var loadFormats = format.List[loaded]{
	{Name: "text", Write: writeLoad},
	{Name: "json", Write: func(out io.Writer, l loaded) error { return json.NewEncoder(out).Encode(l.results) }},
}

func (a *app) loadCommand() *cobra.Command {
	var flags loadFlags
	cmd := &cobra.Command{
		Use:   "load URL",
		Short: "Put HTTP load on a server on this machine, in a closed or an open loop, and show rate and latency",
		Long: `Sends GET requests to URL; {n} in it stands for the number of the request. Only
servers on this machine get requests. Without --rate, each client waits for its answer before it
asks again. With --rate, requests are sent on schedule, answered or not, and
latency counts from that time; several rates are measured one after the other. They arrive as
those of independent users do (a Poisson process, the same each time), or with --arrivals even
at equal distances. Prints rate, latency, its own lag, and late, dropped, failed and wrong requests.
Exit status 1: a request was dropped, failed or wrong.`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.config.URL = args[0]
			return a.load(cmd, flags)
		},
	}
	f := cmd.Flags()
	f.IntVar(&flags.config.Clients, "clients", 50, "clients, or with --rate the maximum number of concurrent requests")
	f.IntVar(&flags.config.Requests, "requests", 10000, "number of measured requests")
	f.IntVar(&flags.config.Warm, "warm", 1000, "number of warm-up requests")
	f.Float64SliceVar(&flags.rates, "rate", nil, "requests a second, one or several `NUMBERS` (default: as fast as answers come)")
	f.Lookup("rate").DefValue = "" // the default is in words
	f.StringVar(&flags.arrivals, "arrivals", assay.PoissonArrivals, "with --rate: poisson (as the requests of independent users arrive), or even (at equal distances)")
	f.DurationVar(&flags.duration, "duration", 0, "with --rate: how long each rate lasts, instead of --requests")
	f.StringVar(&flags.config.Expect, "expect", "", "column file with the digests of the expected answers")
	flags.addFormat(cmd, loadFormats)
	return cmd
}

// load makes the load, once or for each rate, and fails where a request did.
func (a *app) load(cmd *cobra.Command, flags loadFlags) error {
	if cmd.Flags().Changed("duration") && cmd.Flags().Changed("requests") {
		return usage(errors.New("--duration and --requests both say when a rate ends: leave one out"))
	}
	if cmd.Flags().Changed("duration") && (len(flags.rates) == 0 || flags.duration <= 0) {
		return usage(errors.New("--duration says how long each --rate lasts"), "for example --rate 1000 --duration 10s; without --rate, --requests says how many there are")
	}
	if err := checkArrivals(cmd, flags); err != nil {
		return err
	}
	flags.config.Even = flags.arrivals == assay.EvenArrivals
	if len(flags.rates) == 0 {
		flags.rates = []float64{0}
	}
	var configs []load.Config // all of them are right before the first is measured
	for _, rate := range flags.rates {
		c := flags.config
		if c.Rate = rate; flags.duration > 0 {
			c.Requests = int(min(rate*flags.duration.Seconds(), math.MaxInt32))
		}
		if err := c.Check(); err != nil {
			return usage(err)
		}
		configs = append(configs, c)
	}
	l := loaded{clients: flags.config.Clients, rates: flags.rates, arrivals: flags.arrivals}
	wrong := int64(0)
	for _, c := range configs {
		result, err := load.Run(cmd.Context(), c)
		if err != nil && len(l.results) > 0 { // what was measured is shown
			return errors.Join(flags.write(a.stdout, l), err)
		}
		if err != nil {
			return err
		}
		l.results = append(l.results, result)
		wrong += result.Failed + result.Wrong + result.Dropped
	}
	if err := flags.write(a.stdout, l); err != nil {
		return err
	}
	if wrong > 0 {
		return &exitError{status: statusFailed}
	}
	return nil
}

// checkArrivals refuses a word that is no way of arrival, and one without a rate.
func checkArrivals(cmd *cobra.Command, flags loadFlags) error {
	switch {
	case !slices.Contains(assay.Arrivals, flags.arrivals):
		return usage(fmt.Errorf("--arrivals %q%s: want %s", flags.arrivals, near.Question(flags.arrivals, assay.Arrivals), strings.Join(assay.Arrivals, " or ")))
	case cmd.Flags().Changed("arrivals") && len(flags.rates) == 0:
		return usage(errors.New("--arrivals is for an open loop"), "--rate says how many requests are sent a second")
	}
	return nil
}

// writeLoad prints a line for each rate.
func writeLoad(out io.Writer, l loaded) error {
	grid := doc.Grid{Header: []string{"load", "req/s", "p50", "p99", "p99.9", "lag p99", "late", "dropped", "failed", "wrong"},
		Right: []bool{false, true, true, true, true, true, true, true, true, true}}
	var first []string
	for i, r := range l.results {
		name := fmt.Sprintf("closed, %d clients", l.clients)
		if l.rates[i] > 0 {
			name = fmt.Sprintf("open, %g/s, %s arrivals", l.rates[i], l.arrivals)
		}
		row := []string{name, fmt.Sprintf("%.0f", r.PerSecond()), percentile(r.Histogram, 0.5), percentile(r.Histogram, 0.99), percentile(r.Histogram, 0.999), percentile(r.Lag, 0.99)}
		for _, n := range []int64{r.Late, r.Dropped, r.Failed, r.Wrong} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		grid.Rows = append(grid.Rows, row)
		for _, text := range []string{r.Error, r.WrongText} {
			if text != "" {
				first = append(first, "the first: "+text)
			}
		}
	}
	list := doc.Listing(grid)
	list.AddSome(doc.Footnote, first...)
	return doc.WriteList(out, list, 0)
}

// percentile prints one where there are enough requests for it.
func percentile(histogram [][2]int64, p float64) string {
	value, ok := stat.PercentileOf(histogram, p)
	if !ok {
		return "-"
	}
	return time.Duration(value).Round(time.Microsecond).String()
}

// loadProcesses are the commands by which assay starts itself: see package load.
func (a *app) loadProcesses() []*cobra.Command {
	generator := &cobra.Command{
		Use:    load.GeneratorCommand,
		Short:  "Make the HTTP load that standard input describes",
		Hidden: true,
		Args:   arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return load.ServeOne(cmd.Context(), cmd.InOrStdin(), a.stdout)
		},
	}
	target := &cobra.Command{
		Use:    load.TargetCommand,
		Short:  "Answer HTTP requests with the same few bytes, until the input ends",
		Hidden: true,
		Args:   arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, listener.Addr())
			go func() {
				_, _ = io.Copy(io.Discard, cmd.InOrStdin())
				_ = listener.Close()
			}()
			return load.ServeBare(listener)
		},
	}
	return []*cobra.Command{generator, target}
}
