// SPDX-License-Identifier: Apache-2.0

// The table of kinds. `expect` names the kind in the current layout that says
// the same, or "self".
package main

import (
	"fmt"
	"math"
)

type kind struct {
	name, expect, about string
	layout              layout // 0: the current one
	scene               func() scene
}

var kinds = []kind{
	{"simple", "self", "one value per sample, inlining, text and number attributes", 0, simple},
	{"timestamps-only", "self", "the eBPF profiler's CPU profile: samples/count, period cpu/nanoseconds, no values", 0, timestampsOnly},
	{"values-and-timestamps", "self", "the eBPF profiler's off-CPU profile: one value per timestamp, no period", 0, offCPU},
	{"links", "self", "samples linked to spans", 0, links},
	{"several", "self", "three resources, several scopes and profiles, one dictionary", 0, several},
	{"attributes", "self", "values of every kind, units, on resource, scope, profile, location and sample", 0, attributes},
	{"build-ids", "self", "mappings with each kind of build id, and without", 0, buildIDs},
	{"unsymbolized", "self", "native frames: addresses only", 0, unsymbolized},
	{"two-types", "self", "two Profile messages of one window: heap objects and bytes", 0, twoTypes},
	{"comment", "self", "pprof's comments, drop and keep expressions as attributes", 0, newComment},
	{"no-stack", "self", "samples without a stack, zero and negative values", 0, noStack},
	{"payload", "self", "profile id, original payload, dropped attributes", 0, payloadScene},
	{"large", "self", "20,000 samples over 5,000 stacks", 0, large},

	{"l7-simple", "simple", "stacks as runs of location_indices, no stack table", layout7, simple},
	{"l7-links", "links", "link_index 0 is a link, absent is none", layout7, links},
	{"l7-timestamps", "timestamps-only", "timestamps as packed varints", layout7, timestampsOnly},
	{"l7-two-types", "two-types", "two values per sample in one Profile message", layout7, twoTypesInOne},
	{"l8-simple", "simple", "stack table; values are field 2", layout8, simple},
	{"l8-comment", "comment", "comments as a field, aggregation temporality", layout8, oldComment},
	{"l8-timestamps-only", "timestamps-only", "as the eBPF profiler of late 2025 sent it", layout8, timestampsOnly},
	{"l8-links", "links", "attributes are field 3, link field 4", layout8, links},
	{"l9-values-only", "values-only", "samples of fields 1 and 2 only: values, not attributes", layout9, valuesOnly},
	{"l9-with-timestamps", "values-and-timestamps", "fields 1, 2 and 5", layout9, offCPU},
	{"l9-timestamps-only", "timestamps-only", "fields 1, 3 and 5", layout9, timestampsOnly},
	{"l9-with-attributes-and-links", "links", "fields 1 to 4", layout9, links},
	{"l9-simple", "simple", "values and attributes, no link", layout9, simple},
	{"values-only", "self", "the current layout of l9-values-only", 0, valuesOnly},
}

func simple() scene {
	return service("simple", cpuProfile(
		sample{stack: []location{parseFrame, runFrame, mainFrame}, values: []int64{30_000_000}, attributes: thread("worker", 17)},
		sample{stack: []location{runFrame, runFrame, mainFrame}, values: []int64{10_000_000}, attributes: thread("main", 1)},
		sample{stack: []location{nativeFrame, mainFrame}, values: []int64{20_000_000}, attributes: []attribute{{key: "alloc", value: int64(4096), unit: "By"}}},
		sample{stack: []location{kernelFrame, pythonFrame}, values: []int64{40_000_000}, attributes: []attribute{{key: "ключ", value: "значение 🔥"}}},
	))
}

func oldComment() scene {
	p := cpuProfile(sample{stack: []location{mainFrame}, values: []int64{1}})
	p.comments, p.aggregationOfTypes = []string{"one", "two"}, 1
	p.attributes = []attribute{{key: "pprof.profile.drop_frames", value: "drop.*"}, {key: "pprof.profile.keep_frames", value: "keep.*"}}
	return service("comment", p)
}

func newComment() scene {
	s := oldComment()
	p := &s.resources[0].scopes[0].profiles[0]
	p.attributes = append(p.attributes, attribute{key: "pprof.profile.comment", value: []any{"one", "two"}})
	return s
}

func timestampsOnly() scene {
	p := cpuProfile(
		sample{stack: []location{nativeFrame, mainFrame}, timestamps: times(0, 17), attributes: thread("worker", 17)},
		sample{stack: []location{parseFrame, mainFrame}, timestamps: times(1, 3), attributes: thread("worker", 18)},
		sample{stack: []location{kernelFrame, mainFrame}, timestamps: times(2, 1), attributes: thread("main", 1)},
	)
	p.types = []valueType{cpuSamples}
	return service("timestamps-only", p)
}

func offCPU() scene {
	p := cpuProfile(
		sample{stack: []location{nativeFrame, mainFrame}, timestamps: times(0, 3), values: []int64{1_000, 20_000, 300_000}},
		sample{stack: []location{kernelFrame, mainFrame}, timestamps: times(1, 2), values: []int64{5, math.MaxInt32}},
	)
	p.types, p.periodType, p.period = []valueType{{"off_cpu", "nanoseconds"}}, valueType{}, 0
	return service("off-cpu", p)
}

// times are n timestamps within the window, no two series alike.
func times(series, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = startTime + uint64(i)*hz20Period + uint64(series)*1_001
	}
	return out
}

func links() scene {
	first := &link{[16]byte{0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c}, [8]byte{0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31}}
	second := &link{[16]byte{15: 1}, [8]byte{7: 1}}
	return service("links", cpuProfile(
		sample{stack: []location{parseFrame, mainFrame}, values: []int64{10}, link: first, attributes: thread("worker", 17)},
		sample{stack: []location{parseFrame, mainFrame}, values: []int64{20}, link: second, attributes: thread("worker", 17)},
		sample{stack: []location{parseFrame, mainFrame}, values: []int64{30}, attributes: thread("worker", 17)},
	))
}

func several() scene {
	quick := cpuProfile(sample{stack: []location{mainFrame}, values: []int64{1}})
	slow := cpuProfile(sample{stack: []location{runFrame, mainFrame}, values: []int64{2}})
	slow.time += windowSize
	heap := heapProfile("inuse_space", "bytes", 1<<20)
	return scene{[]resource{
		{attributes: []attribute{{key: "service.name", value: "one"}, {key: "host.name", value: "a"}},
			scopes: []scope{{name: "cpu", version: "1", profiles: []profile{quick, slow}}, {name: "heap", version: "2", profiles: []profile{heap}}}},
		{attributes: []attribute{{key: "service.name", value: "two"}, {key: "host.name", value: "a"}},
			scopes: []scope{{name: "cpu", version: "1", profiles: []profile{quick}}}},
		{scopes: []scope{{profiles: []profile{heap}}}}, // no attribute, no scope name
	}}
}

func heapProfile(name, unit string, value int64) profile {
	return profile{types: []valueType{{name, unit}}, periodType: valueType{"space", "bytes"}, period: 524288, time: startTime,
		samples: []sample{{stack: []location{parseFrame, mainFrame}, values: []int64{value}},
			{stack: []location{runFrame, mainFrame}, values: []int64{value * 3}}}}
}

func attributes() scene {
	all := []attribute{
		{key: "text", value: "a text"}, {key: "empty text", value: ""}, {key: "true", value: true}, {key: "false", value: false},
		{key: "int", value: int64(-7)}, {key: "zero", value: int64(0)}, {key: "big", value: int64(math.MaxInt64)},
		{key: "double", value: 2.5}, {key: "infinite", value: math.Inf(1)}, {key: "bytes", value: []byte{0, 1, 0xff}},
		{key: "array", value: []any{"x", int64(1), true}}, {key: "map", value: []attribute{{key: "inner", value: "y"}, {key: "deep", value: []attribute{{key: "z", value: int64(1)}}}}},
		{key: "nothing"}, {key: "with unit", value: int64(12), unit: "ms"}, {key: "dotted.key", value: "dots"}, {key: "spaced key", value: "spaces; and | more"},
	}
	frame := mainFrame
	frame.attributes = append([]attribute{{key: "profile.frame.type", value: "native"}}, all...)
	p := cpuProfile(sample{stack: []location{frame}, values: []int64{1}, attributes: all},
		sample{stack: []location{mainFrame}, values: []int64{2}, attributes: all[:1]})
	p.attributes = all
	s := service("attributes", p)
	s.resources[0].attributes = append(s.resources[0].attributes, all...)
	s.resources[0].scopes[0].attributes = all
	return s
}

func buildIDs() scene {
	var samples []sample
	for i, m := range []*mapping{
		app, library,
		{0x1000, 0x2000, 0, "/usr/bin/go-program", []attribute{{key: "process.executable.build_id.go", value: "abc/def/ghi"}}},
		{0x1000, 0x2000, 0, "libonlyhash.so", []attribute{{key: "process.executable.build_id.htlhash", value: "ffeeddccbbaa99887766554433221100"}}},
		{0, 0, 0, "/usr/bin/unknown", nil},
		{0x3000, 0x4000, 0, "", nil},
	} {
		samples = append(samples, sample{stack: []location{{m, m.start + 0x10, nil, frameType("native")}}, values: []int64{int64(i + 1)}})
	}
	return service("build-ids", cpuProfile(samples...))
}

func unsymbolized() scene {
	at := func(m *mapping, address uint64) location { return location{m, address, nil, frameType("native")} }
	return service("unsymbolized", cpuProfile(
		sample{stack: []location{at(library, 0x12345), at(library, 0x23456), at(app, 0x401234)}, values: []int64{1}},
		sample{stack: []location{at(library, 0x12345), at(app, 0x401234)}, values: []int64{2}},
		sample{stack: []location{at(nil, 0xdeadbeef), at(app, 0x401234)}, values: []int64{3}},
	))
}

func twoTypes() scene {
	s := service("heap", heapProfile("inuse_objects", "count", 4), heapProfile("inuse_space", "bytes", 4096))
	s.resources[0].scopes[0].attributes = []attribute{{key: "pprof.scope.default_sample_type", value: "inuse_space"}}
	return s
}

func twoTypesInOne() scene {
	both, bytes := heapProfile("inuse_objects", "count", 4), heapProfile("inuse_space", "bytes", 4096)
	both.types = append(both.types, bytes.types...)
	for i := range both.samples {
		both.samples[i].values = append(both.samples[i].values, bytes.samples[i].values...)
	}
	both.defaultType = 1
	return service("heap", both)
}

func valuesOnly() scene {
	return service("values-only", cpuProfile(
		sample{stack: []location{parseFrame, mainFrame}, values: []int64{1}},
		sample{stack: []location{runFrame, mainFrame}, values: []int64{2}},
		sample{stack: []location{mainFrame}, values: []int64{300_000_000}},
	))
}

func noStack() scene {
	return service("no-stack", cpuProfile(
		sample{values: []int64{7}, attributes: thread("idle", 3)},
		sample{stack: []location{mainFrame}, values: []int64{0}},
		sample{stack: []location{runFrame, mainFrame}, values: []int64{-5}},
	))
}

func payloadScene() scene {
	p := cpuProfile(sample{stack: []location{mainFrame}, values: []int64{1}})
	p.id = []byte("0123456789abcdef")
	p.payloadFormat, p.payload, p.droppedAttributes = "pprof", []byte("not really pprof"), 3
	return service("payload", p)
}

func large() scene {
	var frames []location
	for i := range 1000 {
		f := function{name: fmt.Sprintf("function_%04d", i), file: fmt.Sprintf("/src/file_%02d.c", i%40), start: int64(i)}
		frames = append(frames, location{app, 0x400000 + uint64(i)*64, []line{{f, int64(i) + 3, 0}}, nil})
	}
	var samples []sample
	for i := range 20_000 {
		stack := make([]location, 0, 20)
		for depth, n := 0, i%5000; depth < 20; depth++ {
			stack = append(stack, frames[n%len(frames)])
			n = n*31 + 7 + depth
			n %= 100_000
		}
		samples = append(samples, sample{stack: stack, values: []int64{int64(i%97 + 1)}, attributes: thread("worker", int64(i/5000))})
	}
	return service("large", cpuProfile(samples...))
}
