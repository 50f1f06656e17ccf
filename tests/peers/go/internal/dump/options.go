// SPDX-License-Identifier: Apache-2.0

// What can be left out of a dump.

package dump

import "flag"

// Options says what to leave out, so that a file can be compared with one that
// went through a format which cannot carry everything.
type Options struct {
	NoHeader   bool
	NoAddress  bool
	NoMappings bool
	NoSystem   bool
	NoLabels   bool
	NamesOnly  bool
	Sum        bool
	Type       string
}

// Flags adds the options to a flag set and returns where they will land.
func Flags(set *flag.FlagSet) *Options {
	o := &Options{}
	set.BoolVar(&o.NoHeader, "no-header", false, "print samples only")
	set.BoolVar(&o.NoAddress, "no-address", false, "leave out addresses of frames and mappings")
	set.BoolVar(&o.NoMappings, "no-mappings", false, "leave out the mapping lines")
	set.BoolVar(&o.NoSystem, "no-system", false, "leave out system (mangled) names")
	set.BoolVar(&o.NoLabels, "no-labels", false, "leave out labels")
	set.BoolVar(&o.NamesOnly, "names-only", false, "frames are function names only, no mapping lines")
	set.BoolVar(&o.Sum, "sum", false, "merge samples of equal stack and labels, drop those that are all zero")
	set.StringVar(&o.Type, "type", "", "keep only the sample type of this `name`")
	return o
}
