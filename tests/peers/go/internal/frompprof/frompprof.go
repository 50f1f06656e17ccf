// SPDX-License-Identifier: Apache-2.0

// Package frompprof turns what github.com/google/pprof/profile read into the
// common dump form.
package frompprof

import (
	"sort"

	"github.com/google/pprof/profile"

	"hearth.dev/peers/internal/dump"
)

// Convert spells out every reference of the profile.
func Convert(p *profile.Profile) *dump.Profile {
	out := &dump.Profile{
		Default:    p.DefaultSampleType,
		Period:     p.Period,
		Time:       p.TimeNanos,
		Duration:   p.DurationNanos,
		Comments:   p.Comments,
		DropFrames: p.DropFrames,
		KeepFrames: p.KeepFrames,
		DocURL:     p.DocURL,
	}
	for _, t := range p.SampleType {
		out.Types = append(out.Types, t.Type+"/"+t.Unit)
	}
	if t := p.PeriodType; t != nil && *t != (profile.ValueType{}) {
		out.PeriodType = t.Type + "/" + t.Unit
	}
	for _, m := range p.Mapping {
		out.Mappings = append(out.Mappings, mapping(m))
	}
	for _, s := range p.Sample {
		out.Samples = append(out.Samples, dump.Sample{Stack: stack(s), Labels: labels(s), Values: s.Value})
	}
	return out
}

func mapping(m *profile.Mapping) dump.Mapping {
	out := dump.Mapping{Start: m.Start, Limit: m.Limit, Offset: m.Offset, File: m.File, BuildID: m.BuildID}
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{m.HasFunctions, "functions"},
		{m.HasFilenames, "filenames"},
		{m.HasLineNumbers, "lines"},
		{m.HasInlineFrames, "inline"},
	} {
		if flag.set {
			out.Flags = append(out.Flags, flag.name)
		}
	}
	return out
}

// stack is root first; pprof stores leaf first, and in a location the
// innermost inlined line first.
func stack(s *profile.Sample) []dump.Frame {
	var frames []dump.Frame
	for i := len(s.Location) - 1; i >= 0; i-- {
		location := s.Location[i]
		place := dump.Frame{Address: location.Address, Folded: location.IsFolded}
		if m := location.Mapping; m != nil {
			place.MappingFile, place.BuildID = m.File, m.BuildID
		}
		if len(location.Line) == 0 {
			frames = append(frames, place)
		}
		for j := len(location.Line) - 1; j >= 0; j-- {
			line, frame := location.Line[j], place
			frame.Line, frame.Column = line.Line, line.Column
			frame.Inlined = j < len(location.Line)-1
			if f := line.Function; f != nil {
				frame.Name, frame.SystemName, frame.File, frame.StartLine = f.Name, f.SystemName, f.Filename, f.StartLine
			}
			frames = append(frames, frame)
		}
	}
	return frames
}

func labels(s *profile.Sample) []dump.Label {
	var out []dump.Label
	for _, key := range sortedKeys(s.Label) {
		for _, text := range s.Label[key] {
			out = append(out, dump.Label{Key: key, Text: text})
		}
	}
	for _, key := range sortedKeys(s.NumLabel) {
		units := s.NumUnit[key]
		for i, number := range s.NumLabel[key] {
			label := dump.Label{Key: key, IsNum: true, Num: number}
			if i < len(units) {
				label.NumUnit = units[i]
			}
			out = append(out, label)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
