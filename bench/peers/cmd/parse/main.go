// SPDX-License-Identifier: Apache-2.0

// Command parse measures github.com/google/pprof/profile.Parse, the reader
// behind `go tool pprof`, over files held in memory.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/google/pprof/profile"

	"hearth.dev/bench/peers/internal/measure"
)

func main() {
	repeats := flag.Int("n", 20, "how often each file is parsed")
	isRaw := flag.Bool("raw", false, "inflate beforehand and measure the parsing alone")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: parse [-n N] [-raw] FILE...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 || *repeats < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*repeats, *isRaw, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "parse: %v\n", err)
		os.Exit(1)
	}
}

func run(repeats int, isRaw bool, paths []string) error {
	inputs, err := measure.ReadAll(paths)
	if err != nil {
		return err
	}
	if !isRaw {
		return measure.Run("google/pprof profile.Parse, as stored", repeats, inputs, parse)
	}
	for i := range inputs {
		if inputs[i], err = inflate(inputs[i]); err != nil {
			return fmt.Errorf("%s: %w", paths[i], err)
		}
	}
	return measure.Run("google/pprof profile.ParseData, inflated", repeats, inputs, parseInflated)
}

// parse is what a program calls: it inflates, decodes and checks.
func parse(data []byte) error {
	_, err := profile.Parse(bytes.NewReader(data))
	return err
}

// parseInflated is the same without Parse's copy of its input.
func parseInflated(data []byte) error {
	_, err := profile.ParseData(data)
	return err
}

func inflate(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}
