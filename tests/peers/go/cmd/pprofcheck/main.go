// SPDX-License-Identifier: Apache-2.0

// Command pprofcheck reads a pprof file with Google's own reader, checks it and
// prints it as sorted lines; with -diff it compares two files.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"

	"github.com/google/pprof/profile"

	"hearth.dev/peers/internal/dump"
	"hearth.dev/peers/internal/frompprof"
)

const usage = `usage: pprofcheck [FLAGS] FILE         check FILE and print it; exit 1 when it is no valid profile
       pprofcheck [FLAGS] -diff A B    exit 0 and "equal", or 1 and the first differences, or 2
FLAGS:
`

const mostDifferences = 20

func main() {
	set := flag.NewFlagSet("pprofcheck", flag.ExitOnError)
	isDiff := set.Bool("diff", false, "compare two files")
	isQuiet := set.Bool("quiet", false, "check only, print nothing")
	options := dump.Flags(set)
	set.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		set.PrintDefaults()
	}
	set.Parse(os.Args[1:])

	switch {
	case *isDiff && set.NArg() == 2:
		os.Exit(compare(set.Arg(0), set.Arg(1), options))
	case !*isDiff && set.NArg() == 1:
		lines, err := read(set.Arg(0), options)
		if err != nil {
			fmt.Fprintf(os.Stderr, "pprofcheck: %v\n", err)
			os.Exit(1)
		}
		if !*isQuiet {
			show(lines)
		}
	default:
		set.Usage()
		os.Exit(2)
	}
}

func compare(a, b string, options *dump.Options) int {
	left, err := read(a, options)
	if err == nil {
		var right []string
		if right, err = read(b, options); err == nil {
			if dump.Diff(os.Stdout, left, right, mostDifferences) != 0 {
				return 1
			}
			fmt.Println("equal")
			return 0
		}
	}
	fmt.Fprintf(os.Stderr, "pprofcheck: %v\n", err)
	return 2
}

func read(path string, options *dump.Options) ([]string, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(bytes)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines, err := frompprof.Convert(p).Lines(options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

func show(lines []string) {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}
