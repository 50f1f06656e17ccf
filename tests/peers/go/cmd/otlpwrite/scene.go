// SPDX-License-Identifier: Apache-2.0

// What the files say, before it is cut into tables: plain values that a test
// can read.
package main

type scene struct{ resources []resource }

type resource struct {
	attributes []attribute
	schemaURL  string
	scopes     []scope
}

type scope struct {
	name, version string
	attributes    []attribute
	profiles      []profile
}

type profile struct {
	types              []valueType // one, but for the oldest layout
	periodType         valueType
	period             int64
	time, duration     uint64
	id                 []byte
	attributes         []attribute
	payloadFormat      string
	payload            []byte
	droppedAttributes  uint32
	samples            []sample
	defaultType        int32   // L7 only
	commentIndices     []int32 // filled in by the tables, L7 and L8 only
	comments           []string
	aggregationOfTypes uint64 // L7 and L8 only
}

type valueType struct{ name, unit string }

// attribute values are string, bool, int64, float64, []byte, []any, []attribute or nil.
type attribute struct {
	key   string
	value any
	unit  string
}

type sample struct {
	stack      []location // leaf first
	values     []int64
	timestamps []uint64
	attributes []attribute
	link       *link
}

type link struct {
	trace [16]byte
	span  [8]byte
}

type location struct {
	mapping    *mapping
	address    uint64
	lines      []line // innermost first
	attributes []attribute
}

type mapping struct {
	start, limit, offset uint64
	file                 string
	attributes           []attribute
}

type line struct {
	function     function
	line, column int64
}

type function struct {
	name, system, file string
	start              int64
}

const (
	startTime  = 1_700_000_000_000_000_000
	windowSize = 5_000_000_000
	hz20Period = 50_000_000
)

var (
	cpuSamples = valueType{"samples", "count"}
	cpuTime    = valueType{"cpu", "nanoseconds"}
)

var app = &mapping{0x400000, 0x600000, 0x1000, "/usr/bin/app", []attribute{
	{key: "process.executable.build_id.gnu", value: "0123456789abcdef0123456789abcdef01234567"}}}

var library = &mapping{0x10000, 0x90000, 0, "libnative.so.1", []attribute{
	{key: "process.executable.build_id.gnu", value: "feedfacefeedfacefeedfacefeedfacefeedface"},
	{key: "process.executable.build_id.htlhash", value: "00112233445566778899aabbccddeeff"}}}

var (
	mainFrame = location{app, 0x401000, []line{{function{"main", "main", "/src/main.c", 10}, 12, 3}}, frameType("native")}
	runFrame  = location{app, 0x402000, []line{{function{"app::run(int)", "_ZN3app3runEi", "/src/run.cc", 40}, 44, 0}}, frameType("native")}
	// is_space and skip_space are inlined into parse.
	parseFrame = location{app, 0x403000, []line{
		{function{"is_space", "is_space", "/src/parse.h", 1}, 1, 9},
		{function{"skip_space", "skip_space", "/src/parse.h", 3}, 4, 5},
		{function{"parse", "parse", "/src/parse.c", 7}, 9, 1}}, frameType("native")}
	nativeFrame = location{library, 0x12345, nil, frameType("native")}
	kernelFrame = location{nil, 0, []line{{function{name: "do_syscall_64"}, 0, 0}}, frameType("kernel")}
	pythonFrame = location{nil, 0, []line{{function{"handler", "", "/srv/app.py", 20}, 25, 0}}, frameType("cpython")}
)

func frameType(name string) []attribute { return []attribute{{key: "profile.frame.type", value: name}} }

func thread(name string, id int64) []attribute {
	return []attribute{{key: "thread.name", value: name}, {key: "thread.id", value: id}}
}

func service(name string, profiles ...profile) scene {
	return scene{[]resource{{
		attributes: []attribute{{key: "service.name", value: name}, {key: "process.pid", value: int64(4242)}},
		schemaURL:  "https://opentelemetry.io/schemas/1.37.0",
		scopes:     []scope{{name: "otlpwrite", version: "1", profiles: profiles}},
	}}}
}

func cpuProfile(samples ...sample) profile {
	return profile{types: []valueType{cpuTime}, periodType: cpuTime, period: hz20Period,
		time: startTime, duration: windowSize, samples: samples}
}
