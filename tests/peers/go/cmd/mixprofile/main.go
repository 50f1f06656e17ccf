// SPDX-License-Identifier: Apache-2.0

// Command mixprofile writes one pprof file in one of the odd but met shapes
// that real encoders do not share. The bytes are the same at every run.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const usage = `usage: mixprofile OUT KIND    write the shape KIND into the file OUT
       mixprofile DIR -all    write every shape into DIR/KIND.pprof
       mixprofile -list       one line per shape: KIND EXPECT what it is
`

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 1 && args[0] == "-list":
		for _, s := range shapes {
			fmt.Printf("%s\t%s\t%s\n", s.name, s.expect, s.about)
		}
	case len(args) == 2 && args[1] == "-all":
		for _, s := range shapes {
			write(filepath.Join(args[0], s.name+".pprof"), s)
		}
	case len(args) == 2:
		for _, s := range shapes {
			if s.name == args[1] {
				write(args[0], s)
				return
			}
		}
		fmt.Fprintf(os.Stderr, "mixprofile: no shape %q; mixprofile -list names them\n", args[1])
		os.Exit(2)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
}

func write(path string, s shape) {
	if err := os.WriteFile(path, s.bytes(), 0o644); err != nil {
		fmt.Fprintf(os.Stderr, "mixprofile: %v\n", err)
		os.Exit(1)
	}
}
