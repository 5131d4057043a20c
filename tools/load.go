//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"assay/internal/runner/load"
	"assay/internal/stat"
	"assay/kit/wire"
)

const (
	loadRounds   = 6
	loadClients  = 50
	loadRequests = 60_000
	// serviceTime is long beside what HTTP costs, and short beside a round.
	serviceTime = 5 * time.Millisecond
)

// generators are programs that make a closed loop of as many clients, and print
// a rate.
var generators = []struct {
	name string
	args []string
	rate *regexp.Regexp
}{
	{"hey", []string{"hey", "-c", fmt.Sprint(loadClients), "-n", fmt.Sprint(loadRequests)}, regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)},
	{"wrk", []string{"wrk", "-c", fmt.Sprint(loadClients), "-t", "2", "-d", "1s"}, regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)},
}

// load compares the closed loop's rate with other generators', on the same
// server in the same minute, and its latency with the server's own clock.
func (t *tools) load() error {
	address, stop, err := t.loadTarget()
	if err != nil {
		return err
	}
	defer stop()
	ours, others := []float64{}, map[string][]float64{}
	for range loadRounds {
		result, err := load.Run(t.ctx, load.Config{URL: "http://" + address + "/", Clients: loadClients, Requests: loadRequests, Warm: loadRequests / 10})
		if err != nil {
			return err
		}
		ours = append(ours, result.PerSecond())
		for _, g := range generators {
			rate, err := t.rate(g.args, g.rate, "http://"+address+"/")
			if err != nil {
				fmt.Printf("load: skipped: %s (%v)\n", g.name, err)
				rate = math.NaN()
			}
			others[g.name] = append(others[g.name], rate)
		}
	}
	say("load: requests a second, closed loop of 50", stat.LogInterval(ours), "", "none", 0, 1e9)
	t.sayRate("hey", ours, others["hey"], "at least 1", 1)
	t.sayRate("wrk", ours, others["wrk"], "wished 0.8", 0.8)
	return t.serviceTime()
}

// sayRate says by how much our rate is another's, round by round.
func (t *tools) sayRate(name string, ours, theirs []float64, bar string, least float64) {
	var ratios []float64
	for i, rate := range theirs {
		if !math.IsNaN(rate) {
			ratios = append(ratios, ours[i]/rate)
		}
	}
	if len(ratios) == 0 {
		return // it was skipped, by name
	}
	say("load: requests a second / those of "+name, stat.LogInterval(ratios), "", bar, least, 1e9)
}

func (t *tools) rate(args []string, pattern *regexp.Regexp, url string) (float64, error) {
	command := exec.CommandContext(t.ctx, args[0], append(args[1:len(args):len(args)], url)...)
	out, err := command.Output()
	if err != nil {
		return 0, err
	}
	found := pattern.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("no rate in what it prints")
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// loadTarget starts the server that costs least.
func (t *tools) loadTarget() (address string, stop func(), err error) {
	ctx, cancel := context.WithCancel(t.ctx)
	command := exec.CommandContext(ctx, filepath.Join("bin", "assay"), "load-target")
	_, err = command.StdinPipe()
	if err != nil {
		cancel()
		return "", nil, err
	}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	stop = func() {
		cancel()
		_ = command.Wait() // it was killed
	}
	if err != nil {
		stop()
		return "", nil, err
	}
	return line[:len(line)-1], stop, nil
}

// serviceTime compares latencies with what a handler says that it took.
func (t *tools) serviceTime() error {
	var mu sync.Mutex
	var own wire.Histogram
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		began := time.Now()
		time.Sleep(serviceTime)
		mu.Lock()
		own.Record(int64(time.Since(began)))
		mu.Unlock()
	})}
	go func() { _ = server.Serve(listener) }() // ends when it is closed
	defer server.Close()
	result, err := load.Run(t.ctx, load.Config{URL: "http://" + listener.Addr().String() + "/", Clients: 4, Requests: 1000})
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	ratio := float64(load.Quantile(result.Histogram, 0.5)) / float64(load.Quantile(own.Buckets(), 0.5))
	say("load: median latency / that of the handler's own clock", one(ratio), "", "1 to 1.1", 1, 1.1)
	return nil
}
