// SPDX-License-Identifier: Apache-2.0

// Command pdata measures the OpenTelemetry Collector's reader of OTLP
// profiles over files held in memory.
package main

import (
	"flag"
	"fmt"
	"os"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"hearth.dev/bench/peers/internal/measure"
)

func main() {
	repeats := flag.Int("n", 20, "how often each file is decoded")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: pdata [-n N] FILE...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 || *repeats < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*repeats, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "pdata: %v\n", err)
		os.Exit(1)
	}
}

func run(repeats int, paths []string) error {
	inputs, err := measure.ReadAll(paths)
	if err != nil {
		return err
	}
	reader := &pprofile.ProtoUnmarshaler{}
	return measure.Run("pdata pprofile.ProtoUnmarshaler", repeats, inputs, func(data []byte) error {
		decoded, err := reader.UnmarshalProfiles(data)
		if err == nil && decoded.SampleCount() == 0 {
			return fmt.Errorf("no sample was decoded")
		}
		return err
	})
}
