// SPDX-License-Identifier: Apache-2.0

// Package dump is the common ground of pprof and OTLP: a profile with every
// name spelled out, printed as sorted lines that a shell test can compare.
package dump

// Profile is one profile, whatever format it came from.
type Profile struct {
	Notes      []string // printed as they are, before everything else
	Types      []string // "cpu/nanoseconds", in file order
	Default    string
	PeriodType string
	Period     int64
	Time       int64
	Duration   int64
	Comments   []string
	DropFrames string
	KeepFrames string
	DocURL     string
	Mappings   []Mapping
	Samples    []Sample
}

// Mapping is one mapped file; Flags holds the symbolization states that are done.
type Mapping struct {
	Start, Limit, Offset uint64
	File, BuildID        string
	Flags                []string
}

// Sample is one stack, root first, with one value per sample type.
type Sample struct {
	Stack  []Frame
	Labels []Label
	Values []int64
}

// Frame is one function activation; several frames share an address when all
// but the outermost of them were inlined.
type Frame struct {
	Name, SystemName, File  string
	Line, Column, StartLine int64
	Address                 uint64
	MappingFile, BuildID    string
	Inlined, Folded         bool
}

// Label is one value of one key; a key with several values gives several labels.
type Label struct {
	Key     string
	Text    string // when not IsNum
	IsNum   bool
	Num     int64
	NumUnit string
}
