// SPDX-License-Identifier: Apache-2.0

// The profile that the shapes encode, and its numbers as pprof's messages have
// them: every text is an index into the string table.
package main

type valueType struct{ name, unit string }

type mapping struct {
	id, start, limit, offset uint64
	file, buildID            string
	hasFunctions             bool
	hasFilenames             bool
	hasLines                 bool
	hasInline                bool
}

type function struct {
	id                 uint64
	name, system, file string
	startLine          int64
}

type line struct {
	function     uint64
	line, column int64
}

type location struct {
	id, mapping, address uint64
	lines                []line
	isFolded             bool
}

type label struct {
	key, text string
	num       int64
	unit      string
}

type sample struct {
	locations []uint64
	values    []int64
	labels    []label
}

type profile struct {
	types       []valueType
	defaultType string
	periodType  valueType
	period      int64
	timeNanos   int64
	duration    int64
	drop, keep  string
	comments    []string
	docURL      string
	mappings    []mapping
	functions   []function
	locations   []location
	samples     []sample
}

// baseProfile has a little of everything: inlining, recursion, two mappings,
// unnamed addresses, text and number labels, a sample without a stack.
func baseProfile() *profile {
	return &profile{
		types:      []valueType{{"samples", "count"}, {"cpu", "nanoseconds"}},
		periodType: valueType{"cpu", "nanoseconds"},
		period:     10_000_000,
		timeNanos:  1_700_000_000_000_000_000,
		duration:   10_000_000_000,
		comments:   []string{"written by mixprofile"},
		mappings: []mapping{
			{1, 0x400000, 0x600000, 0x1000, "/usr/bin/app", "0123456789abcdef0123456789abcdef01234567", true, true, true, true},
			{2, 0x7f0000000000, 0x7f0000100000, 0x2000, "/usr/lib/libnative.so.1", "feedfacefeedfacefeedfacefeedfacefeedface", false, false, false, false},
		},
		functions: []function{
			{1, "main", "main", "/src/main.c", 10},
			{2, "app::Server::run(int)", "_ZN3app6Server3runEi", "/src/server.cc", 40},
			{3, "parse", "parse", "/src/parse.c", 7},
			{4, "skip_space", "skip_space", "/src/parse.h", 3},
			{5, "is_space", "is_space", "/src/parse.h", 1},
			{6, "наблюдатель 🔥", "", "", 0},
		},
		locations: []location{
			{1, 1, 0x401000, []line{{1, 12, 3}}, false},
			{2, 1, 0x402000, []line{{2, 44, 0}}, false},
			{3, 1, 0x403000, []line{{5, 1, 9}, {4, 4, 5}, {3, 9, 1}}, false}, // is_space and skip_space inlined into parse
			{4, 1, 0x403010, []line{{3, 11, 0}}, false},
			{5, 2, 0x7f0000001234, nil, false},
			{6, 0, 0, []line{{6, 0, 0}}, false},
		},
		samples: []sample{
			{[]uint64{3, 2, 1}, []int64{3, 30_000_000}, []label{{key: "route", text: "/pay"}, {key: "thread", num: 17}}},
			{[]uint64{4, 4, 4, 2, 1}, []int64{1, 10_000_000}, nil}, // parse calls itself
			{[]uint64{5, 1}, []int64{2, 20_000_000}, []label{{key: "alloc", num: 4096, unit: "bytes"}}},
			{[]uint64{6}, []int64{4, 40_000_000}, []label{{key: "ключ", text: "значение"}}},
			{nil, []int64{5, 50_000_000}, []label{{key: "no", text: "stack"}}},
			{[]uint64{3, 2, 1}, []int64{6, 60_000_000}, []label{{key: "route", text: "/pay"}, {key: "thread", num: 17}}}, // the first one again
		},
	}
}
