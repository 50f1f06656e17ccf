// SPDX-License-Identifier: Apache-2.0

// Command otlpcheck reads one OTLP profiles file with the official types and
// the collector's reader, and checks the rules of the format; -dump prints it
// in the form that pprofcheck prints.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"

	"hearth.dev/peers/internal/dump"
	"hearth.dev/peers/internal/otlp"
)

const usage = `usage: otlpcheck [-json] [-strict] FILE          check; exit 0, or 1 and one line per broken rule
       otlpcheck [-json] -dump [FLAGS] FILE     print as sorted lines (samples summed); exit 1 when unreadable
FLAGS:
`

// mostProblems keeps the output of a thoroughly wrong file readable.
const mostProblems = 50

func main() {
	set := flag.NewFlagSet("otlpcheck", flag.ExitOnError)
	isJSON := set.Bool("json", false, "FILE is OTLP JSON, not binary")
	isDump := set.Bool("dump", false, "print instead of checking the rules")
	isStrict := set.Bool("strict", false, "also refuse duplicate and unused dictionary entries")
	withResource := set.Bool("resource", false, "with -dump: also print resource attributes and scope")
	options := dump.Flags(set)
	set.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		set.PrintDefaults()
	}
	set.Parse(os.Args[1:])
	if set.NArg() != 1 {
		set.Usage()
		os.Exit(2)
	}
	path := set.Arg(0)
	bytes, err := os.ReadFile(path)
	fail(path, err)
	read := otlp.ReadBinary
	if *isJSON {
		read = otlp.ReadJSON
	}
	data, err := read(bytes)
	fail(path, err)

	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if *isDump {
		options.Sum = true
		for _, p := range otlp.Convert(data, *withResource) {
			lines, err := p.Lines(options)
			fail(path, err)
			for _, line := range lines {
				fmt.Fprintln(out, line)
			}
		}
		return
	}
	// The collector's writer moves resource texts into the string table on the
	// way from JSON, so only a binary file can be held to the strict rules.
	strict := *isStrict && !*isJSON
	problems := otlp.Check(data, otlp.Strictness{Duplicates: strict, Orphans: strict})
	for i, problem := range problems {
		if i == mostProblems {
			fmt.Fprintf(out, "%s: and %d more\n", path, len(problems)-i)
			break
		}
		fmt.Fprintf(out, "%s: %s\n", path, problem)
	}
	if len(problems) > 0 {
		out.Flush()
		os.Exit(1)
	}
	fmt.Fprintf(out, "%s: conforms\n", path)
}

func fail(path string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "otlpcheck: %s: %v\n", path, err)
		os.Exit(1)
	}
}
