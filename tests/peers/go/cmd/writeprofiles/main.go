// SPDX-License-Identifier: Apache-2.0

// Command writeprofiles is an ordinary Go program with recognisable functions
// that profiles itself and writes each kind of Go profile into a folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// cpuWindow is how long the CPU profile runs; the rest takes a fraction of it.
const cpuWindow = 1500 * time.Millisecond

// Every 4 KiB of allocation is sampled, so that a small program has a heap profile.
const heapRateBytes = 4096

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: writeprofiles DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "writeprofiles: %v\n", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	runtime.MemProfileRate = heapRateBytes
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}

	kept := allocateEverything()
	contend()
	release := parkGoroutines()
	defer release()
	if err := writeCPU(filepath.Join(dir, "cpu.pprof")); err != nil {
		return err
	}
	runtime.GC() // the heap profile shows the state at the last collection
	for _, kind := range []string{"heap", "allocs", "goroutine", "mutex", "block", "threadcreate"} {
		if err := writeNamed(kind, filepath.Join(dir, kind+".pprof"), 0); err != nil {
			return err
		}
	}
	for _, kind := range []string{"heap", "goroutine"} {
		if err := writeNamed(kind, filepath.Join(dir, kind+".txt"), 1); err != nil {
			return err
		}
	}
	runtime.KeepAlive(kept)
	return nil
}

func writeCPU(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	burnUntil(time.Now().Add(cpuWindow))
	pprof.StopCPUProfile()
	return file.Close()
}

func writeNamed(kind, path string, debug int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := pprof.Lookup(kind).WriteTo(file, debug); err != nil {
		return err
	}
	return file.Close()
}
