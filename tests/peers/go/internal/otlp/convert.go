// SPDX-License-Identifier: Apache-2.0

// From OTLP to the common dump form, undoing what a pprof file becomes in OTLP.

package otlp

import (
	"encoding/hex"
	"fmt"
	"slices"
	"sort"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"

	"hearth.dev/peers/internal/dump"
)

// Convert joins the Profile messages that belong together into one profile
// each: same resource, scope, window and period, one sample type per message.
// That is what a pprof file with several sample types becomes in OTLP.
func Convert(data *profiles.ProfilesData, withResource bool) []*dump.Profile {
	d := dictionary{data.GetDictionary()}
	var out []*dump.Profile
	for _, rp := range data.GetResourceProfiles() {
		for _, sp := range rp.GetScopeProfiles() {
			for _, joined := range d.join(sp) {
				if withResource {
					joined.Notes = append(joined.Notes, d.notes(rp, sp)...)
				}
				out = append(out, joined)
			}
		}
	}
	if len(out) > 1 {
		for i, p := range out {
			p.Notes = append([]string{fmt.Sprintf("profile %d of %d", i+1, len(out))}, p.Notes...)
		}
	}
	return out
}

func (d dictionary) notes(rp *profiles.ResourceProfiles, sp *profiles.ScopeProfiles) []string {
	var lines []string
	for _, kv := range rp.GetResource().GetAttributes() {
		lines = append(lines, fmt.Sprintf("resource %s=%q", d.key(kv), d.show(kv.Value)))
	}
	sort.Strings(lines)
	return append(lines, fmt.Sprintf("scope %q %q", sp.GetScope().GetName(), sp.GetScope().GetVersion()))
}

type window struct {
	time, duration uint64
	periodType     string
	period         int64
}

func (d dictionary) join(sp *profiles.ScopeProfiles) []*dump.Profile {
	var order []window
	groups := map[window][]*profiles.Profile{}
	for _, p := range d.inOrder(sp) {
		w := window{p.TimeUnixNano, p.DurationNano, d.typeName(p.PeriodType), p.Period}
		if groups[w] == nil {
			order = append(order, w)
		}
		groups[w] = append(groups[w], p)
	}
	var out []*dump.Profile
	for _, w := range order {
		p := d.joined(groups[w])
		p.Time, p.Duration, p.PeriodType, p.Period = int64(w.time), int64(w.duration), w.periodType, w.period
		p.Default = d.show(d.findIn(sp.GetScope().GetAttributes(), "pprof.scope.default_sample_type"))
		out = append(out, p)
	}
	return out
}

// inOrder undoes a reordering of sample types that the sender recorded.
func (d dictionary) inOrder(sp *profiles.ScopeProfiles) []*profiles.Profile {
	list := slices.Clone(sp.GetProfiles())
	positions := d.findIn(sp.GetScope().GetAttributes(), "pprof.scope.sample_type_order").GetArrayValue().GetValues()
	if len(positions) != len(list) {
		return list
	}
	place := map[*profiles.Profile]int64{}
	for i, p := range list {
		place[p] = positions[i].GetIntValue()
	}
	sort.SliceStable(list, func(i, j int) bool { return place[list[i]] < place[list[j]] })
	return list
}

func (d dictionary) joined(list []*profiles.Profile) *dump.Profile {
	out := &dump.Profile{Mappings: d.mappings()}
	rows := map[string]int{}
	for column, p := range list {
		out.Types = append(out.Types, d.typeName(p.SampleType))
		if column == 0 {
			d.header(out, p.AttributeIndices)
		}
		for _, s := range p.Samples {
			attributes := slices.Clone(s.AttributeIndices)
			slices.Sort(attributes)
			identity := fmt.Sprint(s.StackIndex, attributes, s.LinkIndex)
			row, ok := rows[identity]
			if !ok {
				row = len(out.Samples)
				rows[identity] = row
				out.Samples = append(out.Samples, dump.Sample{
					Stack: d.stack(s.StackIndex), Labels: d.labels(s), Values: make([]int64, len(list))})
			}
			out.Samples[row].Values[column] += total(s)
		}
	}
	return out
}

// total is the sum of the values, or the number of timestamps without values.
func total(s *profiles.Sample) int64 {
	if len(s.Values) == 0 {
		return int64(len(s.TimestampsUnixNano))
	}
	var sum int64
	for _, v := range s.Values {
		sum += v
	}
	return sum
}

func (d dictionary) header(out *dump.Profile, attributes []int32) {
	comment := d.find(attributes, "pprof.profile.comment")
	if list := comment.GetArrayValue(); list != nil {
		for _, c := range list.Values {
			out.Comments = append(out.Comments, d.show(c))
		}
	} else if comment != nil {
		out.Comments = append(out.Comments, d.show(comment))
	}
	out.DropFrames = d.show(d.find(attributes, "pprof.profile.drop_frames"))
	out.KeepFrames = d.show(d.find(attributes, "pprof.profile.keep_frames"))
	out.DocURL = d.show(d.find(attributes, "pprof.profile.doc_url"))
}

func (d dictionary) mappings() []dump.Mapping {
	var out []dump.Mapping
	for i, m := range d.GetMappingTable() {
		if i == 0 {
			continue
		}
		mapping := dump.Mapping{Start: m.MemoryStart, Limit: m.MemoryLimit, Offset: m.FileOffset,
			File: d.text(m.FilenameStrindex), BuildID: d.buildID(m)}
		for _, flag := range []struct{ key, name string }{
			{"has_functions", "functions"},
			{"has_filenames", "filenames"},
			{"has_line_numbers", "lines"},
			{"has_inline_frames", "inline"},
		} {
			if d.find(m.AttributeIndices, "pprof.mapping."+flag.key).GetBoolValue() {
				mapping.Flags = append(mapping.Flags, flag.name)
			}
		}
		out = append(out, mapping)
	}
	return out
}

func (d dictionary) buildID(m *profiles.Mapping) string {
	return d.show(d.find(m.AttributeIndices,
		"process.executable.build_id.gnu", "process.executable.build_id.go", "process.executable.build_id.htlhash"))
}

func (d dictionary) stack(index int32) []dump.Frame {
	var frames []dump.Frame
	indices := at(d.GetStackTable(), index).LocationIndices
	for i := len(indices) - 1; i >= 0; i-- {
		location := at(d.GetLocationTable(), indices[i])
		place := dump.Frame{Address: location.Address,
			Folded: d.find(location.AttributeIndices, "pprof.location.is_folded").GetBoolValue()}
		if location.MappingIndex != 0 {
			m := at(d.GetMappingTable(), location.MappingIndex)
			place.MappingFile, place.BuildID = d.text(m.FilenameStrindex), d.buildID(m)
		}
		if len(location.Lines) == 0 {
			frames = append(frames, place)
		}
		for j := len(location.Lines) - 1; j >= 0; j-- {
			line, frame := location.Lines[j], place
			f := at(d.GetFunctionTable(), line.FunctionIndex)
			frame.Name, frame.SystemName, frame.File = d.text(f.NameStrindex), d.text(f.SystemNameStrindex), d.text(f.FilenameStrindex)
			frame.Line, frame.Column, frame.StartLine = line.Line, line.Column, f.StartLine
			frame.Inlined = j < len(location.Lines)-1
			frames = append(frames, frame)
		}
	}
	return frames
}

func (d dictionary) labels(s *profiles.Sample) []dump.Label {
	var out []dump.Label
	for _, index := range s.AttributeIndices {
		attribute := at(d.GetAttributeTable(), index)
		key, unit := d.text(attribute.KeyStrindex), d.text(attribute.UnitStrindex)
		if list := attribute.GetValue().GetArrayValue(); list != nil {
			for _, item := range list.Values {
				out = append(out, d.label(key, unit, item))
			}
		} else {
			out = append(out, d.label(key, unit, attribute.Value))
		}
	}
	if s.LinkIndex != 0 {
		link := at(d.GetLinkTable(), s.LinkIndex)
		out = append(out, dump.Label{Key: "trace_id", Text: hex.EncodeToString(link.TraceId)},
			dump.Label{Key: "span_id", Text: hex.EncodeToString(link.SpanId)})
	}
	// pprof cannot tell these from labels that are not there.
	return slices.DeleteFunc(out, func(l dump.Label) bool {
		return l.Text == "" && l.Num == 0 && l.NumUnit == ""
	})
}

func (d dictionary) label(key, unit string, v *common.AnyValue) dump.Label {
	if number, ok := v.GetValue().(*common.AnyValue_IntValue); ok {
		return dump.Label{Key: key, IsNum: true, Num: number.IntValue, NumUnit: unit}
	}
	return dump.Label{Key: key, Text: d.show(v)}
}
