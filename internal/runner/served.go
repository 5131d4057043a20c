//go:build unix

package runner

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os/exec"
	"time"

	"assay"
	"assay/internal/runner/load"
	"assay/kit/process"
	"assay/kit/wire"
)

// serverShare is the part of the processors that a server gets: to answer costs
// more than to ask.
const serverShare = 0.7

// minCPUs is below which load and server share: a server on one processor has
// nothing to do at the same time, and what its pool is for does not show.
const minCPUs = 4

// splitCPUs gives the load generator processors of its own, and the server the
// others; none where there are too few, or the system does not tell.
func splitCPUs(all []int) (server, generator []int) {
	if len(all) < minCPUs {
		return nil, nil
	}
	n := max(1, int(serverShare*float64(len(all))))
	return all[:n], all[n:]
}

// cpus are the processors of the job's worker; none: all.
func (j *job) cpus() []int {
	if !j.Operation.Serve {
		return nil
	}
	server, _ := splitCPUs(process.CPUs())
	return server
}

// runServed has the operation asked for over HTTP, by a process of its own.
func (in *instance) runServed(ctx context.Context, j *job, t *assay.Trial) error {
	if err := in.r.observed.unloadable[j.Cell.Clients]; err != nil {
		return err
	}
	if err := in.prepareBlock(ctx, j, t); err != nil {
		return err
	}
	var served wire.Served
	request := wire.Serve{Operation: j.Cell.Peer(), Clients: j.Cell.Clients}
	if err := in.call(ctx, wire.TypeServe, request, &served); err != nil {
		return err
	}
	url, err := served.URL()
	if err == nil {
		err = ready(ctx, url)
	}
	if err != nil {
		return fail("serve", err)
	}
	if in.r.config.LatencyTarget != nil {
		return in.findCapacity(ctx, j, url, t)
	}
	var before, after wire.Stats
	if err := in.call(ctx, wire.TypeStats, nil, &before); err != nil {
		return err
	}
	result, made := in.load(ctx, j, url, loadSize{measured: j.Operation.Count, warm: j.warm, rate: j.Cell.Rate, seed: in.r.arrivalSeed(t.Launch, 0)})
	if err = in.call(ctx, wire.TypeStats, nil, &after); err != nil {
		return err // first of all: without a worker nothing is answered
	}
	if err := after.Check(before); err != nil {
		return untrue(wire.TypeStats, err)
	}
	if made != nil {
		return fail("load", made)
	}
	if in.asked.lazy {
		if t.Digest, _, err = in.verify(ctx, j); err != nil {
			return err
		}
	}
	if result.Wrong > 0 || result.Right == 0 {
		return answered(result, j)
	}
	if err := lagged(result); err != nil {
		return err
	}
	tally := tally{partial: result.Failed+result.Dropped > 0, uncounted: !countsBusy(before, after)}
	tally.add(measuredLoad(result, j, before, after))
	in.r.time.add(assay.StageMeasured, tally.took())
	if err := in.completeBlock(ctx, j, t, &tally); err != nil {
		return err
	}
	if t.Measured() {
		in.recordLoad(t, j, result)
		recordPool(t, j, int64(j.warm+j.Operation.Count), poolDid(before.Pool, after.Pool))
	}
	return end(t, answered(result, j))
}

// ready asks until the server answers, so that none of its start is measured.
func ready(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/", nil)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // it has none
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the server at %s answers %s when it should be ready", url, response.Status)
	}
	return nil
}

// loadSize says how many requests a load has.
type loadSize struct {
	measured, warm int
	rate           float64 // a second; 0: as fast as they are answered
	seed           [2]uint64
}

// arrivalSeed returns the seed of the arrivals in a launch, and in a step of a search there: the
// same for all drivers and profiles.
func (r *Runner) arrivalSeed(launch, step int) [2]uint64 {
	return [2]uint64{r.config.Seed, uint64(launch)<<32 | uint64(step)}
}

// load runs the load generator within the time limit of a block.
func (in *instance) load(ctx context.Context, j *job, url string, n loadSize) (load.Result, error) {
	limited, cancel := in.r.bounded(ctx)
	defer cancel()
	result, used, err := in.r.generate(limited, load.Config{URL: url + "/{n}", Clients: j.Cell.Clients,
		Requests: n.measured, Warm: n.warm, Rate: n.rate, Even: j.Cell.Params[assay.ArrivalsParam] == assay.EvenArrivals, Seed: n.seed, Expect: j.answers})
	in.besideUsed += used
	if ctx.Err() == nil && limited.Err() != nil {
		return result, endedByBudget(limited, &failure{assay.TimedOut, fmt.Sprintf("load: %d requests were not answered within %s", n.warm+n.measured, in.r.config.Timeout)})
	}
	return result, err
}

// generate has a process of its own make the load, on its own processors, and
// returns the CPU time that it used.
func (r *Runner) generate(ctx context.Context, c load.Config) (load.Result, time.Duration, error) {
	command := r.self(ctx, load.GeneratorCommand)
	_, cpus := splitCPUs(process.CPUs())
	return load.Generate(ctx, command, c, func(c *exec.Cmd) error { return process.StartOn(c, cpus) })
}

// self is a command of this program.
func (r *Runner) self(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, r.config.Assay, args...)
	command.Args[0] = "assay" // whatever the file is called
	command.WaitDelay = time.Second
	return command
}

// calibrate finds once how many requests a second the generator reaches with so
// many clients where nothing is behind the answers. Where it cannot have so many, that
// is kept as the outcome of the cells with as many.
func (r *Runner) calibrate(ctx context.Context, cell assay.Cell) error {
	if _, known := r.observed.limits[cell.Clients]; known || r.observed.unloadable[cell.Clients] != nil {
		return nil
	}
	r.progress(Preparing, fmt.Sprintf("the load generator's own limit, %d clients", cell.Clients), 0)
	limited, cancel := context.WithTimeout(ctx, calibrationTime)
	defer cancel()
	limit, err := r.limit(limited, cell.Clients)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	doing := fmt.Sprintf("the load generator's own limit, %d clients", cell.Clients)
	switch {
	case err != nil && tooManyFiles(err.Error()):
		r.observed.unloadable[cell.Clients] = fail(doing, err)
	case err != nil: // of the machine, and no fault of a worker: the run can be resumed
		return fmt.Errorf("%s: %w", doing, err)
	default:
		r.observed.limits[cell.Clients] = limit
	}
	return nil
}

const (
	// calibrationRequests is as many as take half a second or so.
	calibrationRequests = 30_000
	// calibrationTime bounds them: no worker takes part, whom the plan's timeout is for.
	calibrationTime = time.Minute
)

// limit measures against assay load-target on the server's processors.
func (r *Runner) limit(ctx context.Context, clients int) (float64, error) {
	target := r.self(ctx, load.TargetCommand)
	stdin, err := target.StdinPipe()
	if err != nil {
		return 0, err
	}
	stdout, err := target.StdoutPipe()
	if err != nil {
		return 0, err
	}
	server, _ := splitCPUs(process.CPUs())
	if err := process.StartOn(target, server); err != nil {
		return 0, err
	}
	var address string
	_, err = fmt.Fscanln(stdout, &address)
	var result load.Result
	if err == nil {
		result, _, err = r.generate(ctx, load.Config{URL: "http://" + address + "/{n}", Clients: clients,
			Requests: calibrationRequests, Warm: calibrationRequests / warmShare})
	}
	_ = stdin.Close() // which ends it
	if waited := target.Wait(); err == nil && waited != nil {
		err = waited
	}
	if err == nil && result.Failed > 0 {
		err = fmt.Errorf("%d of %d requests to the bare server failed: %s", result.Failed, calibrationRequests, result.Error)
	}
	return result.PerSecond(), err
}

// countsBusy reports whether a worker counts how often it tries operations again.
func countsBusy(before, after wire.Stats) bool { return before.Busy != nil && after.Busy != nil }

// measuredLoad is a load as a worker would report it. The counters are of the
// warm-up too.
func measuredLoad(result load.Result, j *job, before, after wire.Stats) wire.Measured {
	busy := int64(0)
	if countsBusy(before, after) {
		busy = *after.Busy - *before.Busy
	}
	return wire.Measured{Busy: busy, Operations: result.Right, Nanos: result.Nanos, Executed: int64(j.warm) + result.Offered - result.Dropped,
		Histogram: result.Histogram, Counters: after.Since(before.Counters)}
}

// answered is the outcome that wrong and failed requests ask for, nil where
// all were right.
func answered(result load.Result, j *job) error {
	all := int64(j.warm) + result.Offered
	switch {
	case result.Wrong > 0:
		return &failure{assay.WrongAnswer, fmt.Sprintf("%d of %d requests got a wrong answer; the first: %s", result.Wrong, all, result.WrongText)}
	case result.Failed > 0:
		return &failure{assay.Failed, fmt.Sprintf("%d of %d requests failed; the first: %s", result.Failed, all, result.Error)}
	case result.Right == 0:
		return &failure{assay.Failed, fmt.Sprintf("no request was answered while it was measured; %d of %d were dropped", result.Dropped, all)}
	}
	return nil
}

const (
	// A generator that was late by so much, and by half of what it measured, has
	// measured itself.
	maxLagMedian = 200 * time.Microsecond
	maxLag       = 5 * time.Millisecond
	maxLagShare  = 0.5
)

// lagged voids what is the generator's own lag as much as the server's latency.
func lagged(result load.Result) error {
	for _, q := range []struct {
		p     float64
		floor time.Duration
	}{{0.5, maxLagMedian}, {0.99, maxLag}} {
		lag, latency := load.Quantile(result.Lag, q.p), load.Quantile(result.Histogram, q.p)
		if lag > int64(q.floor) && float64(lag) > maxLagShare*float64(latency) {
			return &failure{assay.Failed, fmt.Sprintf("not measured: the load generator itself was late, by %s at the %gth percentile, where latency is %s; give it more processors, or a quieter machine",
				time.Duration(lag).Round(time.Microsecond), 100*q.p, time.Duration(latency).Round(time.Microsecond))}
		}
	}
	return nil
}

// LatencyTarget is the latency that a server has to keep: at most Max, of the share
// Quantile of the requests.
type LatencyTarget struct {
	Quantile float64 // such as 0.99
	Max      time.Duration
}

const (
	stepLength        = 500 * time.Millisecond
	maxLength         = 2 * time.Second // of a step with few requests
	maxConfirmLength  = 3 * time.Second
	minInStep         = 2000 // requests: 20 beyond the 99th percentile
	minBeyondQuantile = 100  // requests, in the steps that confirm a rate
)

// findCapacity searches the highest rate at which a served operation keeps the
// latency target, and records it.
func (in *instance) findCapacity(ctx context.Context, j *job, url string, t *assay.Trial) error {
	target := in.r.config.LatencyTarget
	began := time.Now()
	steps := 0
	var late error // the generator was, at the last rate that missed the target
	rate, limited, err := load.Search{Limit: nearLimit * in.r.observed.limits[j.Cell.Clients], Holds: func(rate float64, confirm bool) (bool, error) {
		count := target.requests(rate, confirm)
		steps++
		result, err := in.load(ctx, j, url, loadSize{measured: count, warm: count / warmShare, rate: rate, seed: in.r.arrivalSeed(t.Launch, steps)})
		if err == nil && result.Wrong > 0 {
			err = answered(result, j)
		}
		if err != nil || target.holds(result, rate) { // what the generator adds is in it
			return err == nil, err
		}
		late = lagged(result)
		return false, nil
	}}.Run()
	in.r.time.add(assay.StageMeasured, time.Since(began))
	if err != nil {
		return fail("load", err)
	}
	if rate == 0 && late != nil {
		return late
	}
	if rate == 0 {
		return &failure{assay.Failed, fmt.Sprintf("the latency target does not hold even at %g requests a second", load.MinRate)}
	}
	if err := end(t, in.applied); err != nil {
		return err
	}
	t.Figures[assay.CapacityPerS] = rate
	t.Figures[assay.LimitPerS] = in.r.observed.limits[j.Cell.Clients]
	t.Warnings = append(t.Warnings, target.sampleWarning(rate)...)
	if late != nil {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("above %.0f requests a second the latency target was missed when the load generator itself was late", rate),
			Advice:   "the server may do more: give the generator more processors, or a quieter machine, to find out"})
	}
	if limited {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("the latency target still holds at %.0f requests a second, %g of what the load generator reaches without a database", rate, nearLimit),
			Advice:   "the server can do more: give the generator more processors to find out"})
	}
	return nil
}

// requests returns how many requests a step has. One that confirms a rate has so many
// that enough of them lie beyond the percentile, unless the rate is too low.
func (t LatencyTarget) requests(rate float64, confirm bool) int {
	n := max(rate*stepLength.Seconds(), min(minInStep, rate*maxLength.Seconds()))
	if confirm {
		n = max(n, min(math.Ceil(minBeyondQuantile/(1-t.Quantile)), rate*maxConfirmLength.Seconds()))
	}
	return int(n)
}

// sampleWarning is about a percentile of which few requests lie beyond.
func (t LatencyTarget) sampleWarning(rate float64) []assay.Warning {
	requests := t.requests(rate, true)
	beyond := float64(requests) * (1 - t.Quantile)
	if beyond >= minBeyondQuantile/load.MinRateStep { // rates that held are not all the same
		return nil
	}
	return []assay.Warning{{Code: "few-samples",
		Evidence: fmt.Sprintf("each step that confirms the rate has about %d requests, of which %.0f lie beyond the percentile; %d are needed", requests, beyond, minBeyondQuantile),
		Advice:   "use a lower percentile in --find-capacity, or read the rate as an estimate with more noise"}}
}

// holds reports whether all was answered in time.
func (t LatencyTarget) holds(result load.Result, rate float64) bool {
	return result.Failed+result.Dropped == 0 && !fellBehind(result, rate) && load.Quantile(result.Histogram, t.Quantile) <= int64(t.Max)
}
