// SPDX-License-Identifier: Apache-2.0

// Every rule must be able to fail: one small good message, broken in one way
// at a time. And what OTLP and pprof both say must print alike.
package otlp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	"google.golang.org/protobuf/proto"

	"hearth.dev/peers/internal/dump"
	"hearth.dev/peers/internal/frompprof"
)

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}

// good uses every table; `strict` has nothing to say about it either.
func good() *profiles.ProfilesData {
	return &profiles.ProfilesData{
		Dictionary: &profiles.ProfilesDictionary{
			StringTable:    []string{"", "cpu", "nanoseconds", "main", "main.c", "app", "route", "process.executable.build_id.gnu"},
			FunctionTable:  []*profiles.Function{{}, {NameStrindex: 3, SystemNameStrindex: 3, FilenameStrindex: 4, StartLine: 2}},
			MappingTable:   []*profiles.Mapping{{}, {MemoryStart: 16, MemoryLimit: 64, FilenameStrindex: 5, AttributeIndices: []int32{2}}},
			LocationTable:  []*profiles.Location{{}, {MappingIndex: 1, Address: 32, Lines: []*profiles.Line{{FunctionIndex: 1, Line: 3}}}},
			LinkTable:      []*profiles.Link{{}, {TraceId: slices.Repeat([]byte{1}, 16), SpanId: slices.Repeat([]byte{2}, 8)}},
			AttributeTable: []*profiles.KeyValueAndUnit{{}, {KeyStrindex: 6, Value: text("/pay")}, {KeyStrindex: 7, Value: text("abc")}},
			StackTable:     []*profiles.Stack{{}, {LocationIndices: []int32{1}}},
		},
		ResourceProfiles: []*profiles.ResourceProfiles{{
			Resource: &resource.Resource{Attributes: []*common.KeyValue{{Key: "service.name", Value: text("good")}}},
			ScopeProfiles: []*profiles.ScopeProfiles{{Profiles: []*profiles.Profile{{
				SampleType: &profiles.ValueType{TypeStrindex: 1, UnitStrindex: 2}, TimeUnixNano: 1000, DurationNano: 100,
				Samples: []*profiles.Sample{
					{StackIndex: 1, AttributeIndices: []int32{1}, LinkIndex: 1, Values: []int64{5}},
					{StackIndex: 1, Values: []int64{7}},
				},
			}}}},
		}},
	}
}

func TestGoodDataConforms(t *testing.T) {
	if problems := Check(good(), Strictness{Duplicates: true, Orphans: true}); len(problems) != 0 {
		t.Fatal(problems)
	}
}

func TestEveryRuleCanFail(t *testing.T) {
	type (
		d = *profiles.ProfilesDictionary
		p = *profiles.Profile
	)
	for _, c := range []struct {
		want  string // a part of the one problem
		spoil func(d, p, *profiles.ProfilesData)
	}{
		{"dictionary: is missing", func(_ d, _ p, all *profiles.ProfilesData) { all.Dictionary = nil }},
		{"resource_profiles: is empty", func(_ d, _ p, all *profiles.ProfilesData) { all.ResourceProfiles = nil }},
		{"has no scope_profiles", func(_ d, _ p, all *profiles.ProfilesData) { all.ResourceProfiles[0].ScopeProfiles = nil }},
		{"has no profiles", func(_ d, _ p, all *profiles.ProfilesData) {
			all.ResourceProfiles[0].ScopeProfiles[0].Profiles = nil
		}},
		{"string_table[0]: is", func(d d, _ p, _ *profiles.ProfilesData) { d.StringTable[0] = "x" }},
		{"stack_table[0]: must be the zero value", func(d d, _ p, _ *profiles.ProfilesData) { d.StackTable[0].LocationIndices = []int32{1} }},
		{"attribute_table[0]: must have no", func(d d, _ p, _ *profiles.ProfilesData) { d.AttributeTable[0].Value = text("") }},
		{"link_table[0]: must be the zero value", func(d d, _ p, _ *profiles.ProfilesData) { d.LinkTable[0].SpanId = make([]byte, 8) }},
		{"trace_id has 4 bytes", func(d d, _ p, _ *profiles.ProfilesData) { d.LinkTable[1].TraceId = make([]byte, 4) }},
		{"is not below memory_limit", func(d d, _ p, _ *profiles.ProfilesData) { d.MappingTable[1].MemoryStart = 64 }},
		{"mapping_index: index 9", func(d d, _ p, _ *profiles.ProfilesData) { d.LocationTable[1].MappingIndex = 9 }},
		{"function_index: index -1", func(d d, _ p, _ *profiles.ProfilesData) { d.LocationTable[1].Lines[0].FunctionIndex = -1 }},
		{"line: is -3", func(d d, _ p, _ *profiles.ProfilesData) { d.LocationTable[1].Lines[0].Line = -3 }},
		{"start_line: is -1", func(d d, _ p, _ *profiles.ProfilesData) { d.FunctionTable[1].StartLine = -1 }},
		{"filename_strindex: index 8", func(d d, _ p, _ *profiles.ProfilesData) { d.FunctionTable[1].FilenameStrindex = 8 }},
		{"has no name", func(d d, _ p, _ *profiles.ProfilesData) { d.FunctionTable[1] = &profiles.Function{StartLine: 1} }},
		{"location_indices[0]: index 2", func(d d, _ p, _ *profiles.ProfilesData) { d.StackTable[1].LocationIndices[0] = 2 }},
		{"unit_strindex: index 99", func(_ d, p p, _ *profiles.ProfilesData) { p.SampleType.UnitStrindex = 99 }},
		{"stack_index: index 2", func(_ d, p p, _ *profiles.ProfilesData) { p.Samples[0].StackIndex = 2 }},
		{"link_index: index 2", func(_ d, p p, _ *profiles.ProfilesData) { p.Samples[0].LinkIndex = 2 }},
		{`attribute key "route" twice`, func(_ d, p p, _ *profiles.ProfilesData) { p.Samples[0].AttributeIndices = []int32{1, 1} }},
		{"neither values nor timestamps", func(_ d, p p, _ *profiles.ProfilesData) {
			for _, s := range p.Samples {
				s.Values = nil
			}
		}},
		{"has 2 values and no timestamps", func(_ d, p p, _ *profiles.ProfilesData) { p.Samples[0].Values = []int64{1, 2} }},
		{"has timestamps only where", func(_ d, p p, _ *profiles.ProfilesData) {
			p.Samples[1].Values, p.Samples[1].TimestampsUnixNano = nil, []uint64{1000}
		}},
		{"outside [1000, 1100)", func(_ d, p p, _ *profiles.ProfilesData) {
			for _, s := range p.Samples {
				s.TimestampsUnixNano = []uint64{1100}
			}
		}},
		{"profile_id: has 3 bytes", func(_ d, p p, _ *profiles.ProfilesData) { p.ProfileId = []byte("abc") }},
		{"go together", func(_ d, p p, _ *profiles.ProfilesData) { p.OriginalPayload = []byte("abc") }},
		{`the key "service.name" twice`, func(_ d, _ p, all *profiles.ProfilesData) {
			list := &all.ResourceProfiles[0].Resource.Attributes
			*list = append(*list, (*list)[0])
		}},
		{"unknown fields", func(_ d, p p, _ *profiles.ProfilesData) { p.ProtoReflect().SetUnknown([]byte{0xa0, 6, 1}) }},
		{"string_table[8]: repeats [1]", func(d d, p p, _ *profiles.ProfilesData) {
			d.StringTable = append(d.StringTable, "cpu")
			p.PeriodType = &profiles.ValueType{TypeStrindex: 8}
		}},
		{"function_table[2]: repeats [1]", func(d d, _ p, _ *profiles.ProfilesData) {
			d.FunctionTable = append(d.FunctionTable, proto.Clone(d.FunctionTable[1]).(*profiles.Function))
			d.LocationTable[1].Lines = append(d.LocationTable[1].Lines, &profiles.Line{FunctionIndex: 2})
		}},
		{"string_table[8]: is used by nothing", func(d d, _ p, _ *profiles.ProfilesData) { d.StringTable = append(d.StringTable, "orphan") }},
	} {
		data := good()
		c.spoil(data.Dictionary, data.ResourceProfiles[0].ScopeProfiles[0].Profiles[0], data)
		problems := Check(data, Strictness{Duplicates: true, Orphans: true})
		if !slices.ContainsFunc(problems, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("want a problem with %q, have %q", c.want, problems)
		}
	}
}

func TestPprofAndOTLPPrintAlike(t *testing.T) {
	m := &profile.Mapping{ID: 1, Start: 16, Limit: 64, File: "app", BuildID: "abc"}
	f := &profile.Function{ID: 1, Name: "main", SystemName: "main", Filename: "main.c", StartLine: 2}
	l := &profile.Location{ID: 1, Mapping: m, Address: 32, Line: []profile.Line{{Function: f, Line: 3}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, TimeNanos: 1000, DurationNanos: 100,
		Mapping: []*profile.Mapping{m}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{l}, Value: []int64{3}},
			{Location: []*profile.Location{l}, Value: []int64{4}},
			{Location: []*profile.Location{l}, Value: []int64{5}, Label: map[string][]string{
				"route": {"/pay"}, "trace_id": {strings.Repeat("01", 16)}, "span_id": {strings.Repeat("02", 8)}}},
		},
	}
	options := &dump.Options{Sum: true}
	left, err := frompprof.Convert(p).Lines(options)
	if err != nil {
		t.Fatal(err)
	}
	right, err := Convert(good(), false)[0].Lines(options)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(left, right) {
		t.Fatalf("pprof:\n%s\nOTLP:\n%s", strings.Join(left, "\n"), strings.Join(right, "\n"))
	}
}
