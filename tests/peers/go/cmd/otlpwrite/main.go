// SPDX-License-Identifier: Apache-2.0

// Command otlpwrite writes OTLP profiles as the OpenTelemetry Collector's
// library writes them, in the current layout or in an older one.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

const usage = `usage: otlpwrite [-json] OUT KIND    write KIND into the file OUT, binary or as JSON (current layout only)
       otlpwrite DIR -all            write every KIND into DIR/KIND.otlp, and DIR/KIND.json where it can be
       otlpwrite -list               one line per kind: KIND EXPECT what it is
`

func main() {
	args := os.Args[1:]
	isJSON := len(args) > 0 && args[0] == "-json"
	if isJSON {
		args = args[1:]
	}
	switch {
	case len(args) == 1 && args[0] == "-list" && !isJSON:
		for _, k := range kinds {
			fmt.Printf("%s\t%s\t%s\n", k.name, k.expect, k.about)
		}
	case len(args) == 2 && args[1] == "-all" && !isJSON:
		for _, k := range kinds {
			path := filepath.Join(args[0], k.name)
			check(write(path+".otlp", k, false))
			if k.layout == 0 {
				check(write(path+".json", k, true))
			}
		}
	case len(args) == 2:
		for _, k := range kinds {
			if k.name == args[1] {
				check(write(args[0], k, isJSON))
				return
			}
		}
		fmt.Fprintf(os.Stderr, "otlpwrite: no kind %q; otlpwrite -list names them\n", args[1])
		os.Exit(2)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
}

func write(path string, k kind, isJSON bool) error {
	bytes, err := encode(k, isJSON)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes, 0o644)
}

func encode(k kind, isJSON bool) ([]byte, error) {
	switch {
	case k.layout != 0 && isJSON:
		return nil, fmt.Errorf("kind %q has an old layout, which is written in binary only", k.name)
	case k.layout != 0:
		return toLegacy(k.scene(), k.layout), nil
	case isJSON:
		return (&pprofile.JSONMarshaler{}).MarshalProfiles(toPdata(k.scene()))
	}
	return (&pprofile.ProtoMarshaler{}).MarshalProfiles(toPdata(k.scene()))
}

func check(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "otlpwrite: %v\n", err)
		os.Exit(1)
	}
}
