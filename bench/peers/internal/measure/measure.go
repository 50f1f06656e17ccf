// SPDX-License-Identifier: Apache-2.0

// Package measure runs a piece of work many times and prints what it cost the
// whole process: user and system time of all threads, the collector's included.
package measure

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// result is the one line of JSON. Every number covers the measured runs only,
// but max_rss_kb, which is the process's peak.
type result struct {
	What     string  `json:"what"`
	N        int     `json:"n"` // items worked on: repeats times files
	CPU      float64 `json:"cpu_s"`
	Wall     float64 `json:"wall_s"`
	MaxRSS   int64   `json:"max_rss_kb"`
	Files    int     `json:"files"`
	Bytes    int64   `json:"bytes"` // input bytes over all n items
	Go       string  `json:"go"`
	MaxProcs int     `json:"gomaxprocs"`
}

// Run works through all inputs `repeats` times after one pass to warm up, and
// prints the result. Garbage collection runs as it does by default; one forced
// collection before the clock starts keeps the warm-up's garbage out.
func Run(what string, repeats int, inputs [][]byte, work func([]byte) error) error {
	r := result{What: what, N: repeats * len(inputs), Files: len(inputs), Go: runtime.Version(), MaxProcs: runtime.GOMAXPROCS(0)}
	pass := func() error {
		for i, input := range inputs {
			if err := work(input); err != nil {
				return fmt.Errorf("input %d: %w", i+1, err)
			}
		}
		return nil
	}
	if err := pass(); err != nil {
		return err
	}
	for _, input := range inputs {
		r.Bytes += int64(repeats) * int64(len(input))
	}
	runtime.GC()

	cpu, wall := cpuSeconds(), time.Now()
	for range repeats {
		if err := pass(); err != nil {
			return err
		}
	}
	r.Wall, r.CPU = time.Since(wall).Seconds(), cpuSeconds()-cpu
	r.MaxRSS = usage().Maxrss
	return json.NewEncoder(os.Stdout).Encode(r)
}

// ReadAll holds every file in memory, so that no reading is measured.
func ReadAll(paths []string) ([][]byte, error) {
	var out [][]byte
	for _, path := range paths {
		bytes, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		out = append(out, bytes)
	}
	return out, nil
}

func usage() (u syscall.Rusage) {
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails only for a bad argument
	return u
}

func cpuSeconds() float64 {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
