// SPDX-License-Identifier: Apache-2.0

// The table of shapes. `expect` says what a reader should make of each:
//
//	self     google/pprof reads it: the same profile as it read
//	damaged  the profile "base" plus something broken: keep the rest, and warn
//	limit    google/pprof reads it, but it is past a limit that hearth has
//	refused  no profile can be had from it
//	KIND     the same profile as the shape KIND, mostly "base"
package main

import (
	"compress/gzip"
	"math"
	"slices"
	"strings"

	"hearth.dev/peers/internal/wire"
)

type shape struct {
	name, expect, about string
	bytes               func() []byte
}

var shapes = []shape{
	{"base", "self", "gzip; fields as Go's runtime writes them, string table last", plain(nil)},
	{"raw", "base", "not compressed", func() []byte { return baseBytes() }},

	{"strings-first", "base", "string table before everything", arranged(stringsFirst)},
	{"shuffled", "base", "all top-level fields interleaved", arranged(func(f []field) []field { return shuffled(f, 1) })},
	{"shuffled-again", "base", "interleaved another way", arranged(func(f []field) []field { return shuffled(f, 20261115) })},
	{"packed", "base", "every repeated number packed", packed(packAlways)},
	{"unpacked", "base", "no repeated number packed", packed(packNever)},
	{"packed-mixed", "base", "packed and unpacked numbers within one message", packed(packMixed)},
	{"padded-varints", "base", "numbers in ten-byte varints", func() []byte {
		return gzipped(joined(encode(baseProfile(), &encoder{padded: true})))
	}},
	{"unknown-fields", "base", "fields of every wire type that no schema has", unknownFields},
	{"halves", "base", "one profile cut between two fields, as two concatenated messages: legal protobuf", halves},

	{"gzip-members", "base", "several gzip members, one empty", func() []byte { return gzipMembers(baseBytes(), 3) }},
	{"gzip-header", "base", "gzip header with name, comment and extra field", func() []byte {
		return gzippedAs(gzip.Header{Name: "profile.pb", Comment: "a comment", Extra: []byte("ab\x02\x00xy"), OS: 3}, baseBytes())
	}},
	{"gzip-twice", "base", "gzip within gzip", func() []byte { return gzipped(gzipped(baseBytes())) }},
	{"zstd", "base", "zstd frame with content size, stored blocks", func() []byte { return zstdFrame(baseBytes(), true) }},
	{"zstd-stream", "base", "two zstd frames without size, a skippable frame between", func() []byte {
		data := baseBytes()
		half := len(data) / 2
		return append(append(zstdFrame(data[:half], false), zstdSkippable([]byte("skip me"))...), zstdFrame(data[half:], false)...)
	}},

	{"ids-sparse", "base", "ids over all 64 bits", plain(sparseIDs)},
	{"no-mappings", "self", "no mapping table, locations without mapping", plain(noMappings)},
	{"no-functions", "self", "addresses only", plain(noFunctions)},
	{"no-period", "self", "no period, no period type, no time, no comment", plain(func(p *profile) {
		p.period, p.periodType, p.timeNanos, p.duration, p.comments = 0, valueType{}, 0, 0, nil
	})},
	{"no-samples", "self", "types but no sample", plain(func(p *profile) {
		p.samples, p.locations, p.functions, p.mappings = nil, nil, nil, nil
	})},
	{"folded-locations", "self", "locations marked as folded by the linker", plain(func(p *profile) {
		p.locations[1].isFolded, p.locations[2].isFolded = true, true
	})},
	{"labels-units", "self", "numbers with, without and with guessed units", plain(func(p *profile) {
		p.samples[1].labels = []label{{key: "bytes", num: 512}, {key: "request", num: 9}, {key: "latency", num: -5, unit: "milliseconds"}, {key: "zero", unit: "seconds"}, {key: "max", num: math.MaxInt64}}
	})},
	{"labels-repeated", "self", "one key many times, text and number", plain(func(p *profile) {
		p.samples[1].labels = []label{{key: "tag", text: "b"}, {key: "tag", text: "a"}, {key: "tag", text: "b"}, {key: "tag", num: 3}, {key: "tag", num: 1, unit: "bytes"}}
	})},
	{"labels-odd", "self", "keys and values with spaces, quotes, line breaks, nothing", plain(func(p *profile) {
		p.samples[1].labels = []label{{key: "a key", text: "a value"}, {key: "dotted.key", text: "x;y|z"}, {key: "quote\"\\", text: "line\nbreak"}, {key: "empty"}, {key: "", text: "no key"}, {key: "long", text: strings.Repeat("0123456789", 400)}}
	})},
	{"labels-many", "self", "two thousand labels of one key", plain(func(p *profile) {
		for i := range 2000 {
			p.samples[1].labels = append(p.samples[1].labels, label{key: "end_timestamp_ns", num: p.timeNanos + int64(i)})
		}
	})},
	{"spans", "self", "trace and span ids as text and as number", plain(func(p *profile) {
		p.samples[1].labels = []label{{key: "trace_id", text: "0af7651916cd43dd8448eb211c80319c"}, {key: "span_id", text: "b7ad6b7169203331"}}
		p.samples[2].labels = []label{{key: "span id", num: -1}, {key: "local root span id", num: 42}}
	})},
	{"negative", "self", "negative values, as a difference has", plain(func(p *profile) {
		p.samples[0].values, p.samples[2].values = []int64{-3, -30_000_000}, []int64{0, math.MinInt64}
	})},
	{"huge", "self", "values whose sum does not fit", plain(func(p *profile) {
		p.samples[0].values, p.samples[5].values = []int64{1, math.MaxInt64}, []int64{1, math.MaxInt64 - 1}
	})},
	{"zero-values", "self", "samples that are all zero", plain(func(p *profile) { p.samples[1].values = []int64{0, 0} })},
	{"many-types", "self", "nine sample types and a default", plain(manyTypes)},
	{"default-type", "self", "default_sample_type names the first type", plain(func(p *profile) { p.defaultType = "samples" })},
	{"comments", "self", "several comments and a documentation link", plain(func(p *profile) {
		p.comments, p.docURL = []string{"one", "", "two\nlines", "one"}, "https://example.com/profile"
	})},
	{"drop-frames", "self", "drop_frames and keep_frames", plain(func(p *profile) { p.drop, p.keep = "parse|skip_.*", "skip_space" })},
	{"kernel", "self", "kernel, vdso and anonymous mappings", plain(kernelMappings)},
	{"not-utf8", "self", "names that are no UTF-8, control characters", plain(func(p *profile) {
		p.functions[0].name, p.functions[3].name, p.functions[3].file = "caf\xe9", "tab\tand\x00nul", "/src/\xff\xfe"
	})},
	{"deep", "self", "a stack of 1,024 frames", plain(func(p *profile) {
		p.samples[1].locations = deepStack(1024)
	})},
	{"duplicate-strings", "base", "string table with entries twice and unused ones", duplicateStrings},

	{"deeper", "limit", "a stack of 5,000 frames: over the depth limit", plain(func(p *profile) {
		p.samples[1].locations = deepStack(5000)
	})},
	{"dangling-location", "damaged", "one more sample, whose location does not exist", plain(func(p *profile) {
		p.samples = append(p.samples, sample{[]uint64{3, 77, 1}, []int64{9, 90}, nil})
	})},
	{"short-values", "damaged", "one more sample with too few values", plain(func(p *profile) {
		p.samples = append(p.samples, sample{[]uint64{3, 1}, []int64{9}, nil})
	})},
	{"missing-function", "missing-function-read", "lines in function 0 and in one that does not exist", plain(missingFunction(
		[]line{{0, 5, 0}}, []line{{99, 5, 0}}))},
	{"missing-function-read", "self", "what is left of them: addresses without lines", plain(missingFunction(nil, nil))},
	{"string-out-of-range", "damaged", "one more sample, whose label key lies past the string table", stringOutOfRange},
	{"concatenated", "refused", "two whole profiles, uncompressed, one after the other", func() []byte { return append(baseBytes(), baseBytes()...) }},
	{"string-zero", "refused", "string table that does not begin with the empty string", stringZero},
	{"truncated", "refused", "cut in the middle of a field", func() []byte { return baseBytes()[:len(baseBytes())*2/3] }},
	{"gzip-truncated", "refused", "gzip cut short", func() []byte { g := gzipped(baseBytes()); return g[:len(g)-20] }},
	{"gzip-corrupt", "refused", "gzip with a wrong checksum", func() []byte { g := gzipped(baseBytes()); g[len(g)-6] ^= 0xff; return g }},
	{"gzip-trailer", "refused", "bytes that are no gzip member after the end", func() []byte { return append(gzipped(baseBytes()), "garbage"...) }},
	{"no-types", "refused", "samples but no sample type", plain(func(p *profile) { p.types = nil })},
	{"empty", "refused", "no byte at all", func() []byte { return nil }},
	{"empty-gzip", "refused", "gzip of nothing", func() []byte { return gzipped(nil) }},
}

func baseBytes() []byte { return joined(encode(baseProfile(), &encoder{})) }

// plain encodes the base profile after a change.
func plain(change func(*profile)) func() []byte {
	return func() []byte {
		p := baseProfile()
		if change != nil {
			change(p)
		}
		return gzipped(joined(encode(p, &encoder{})))
	}
}

func arranged(order func([]field) []field) func() []byte {
	return func() []byte { return gzipped(joined(order(encode(baseProfile(), &encoder{})))) }
}

func packed(how packing) func() []byte {
	return func() []byte { return gzipped(joined(encode(baseProfile(), &encoder{packing: how}))) }
}

func unknownFields() []byte {
	var out wire.Message
	out.Varint(16, 1)
	out.Text(100, "unknown text")
	out = append(out, baseBytes()...)
	out.Fixed64(536870911, math.MaxUint64)
	out = append(out, 0x8d, 0x01, 1, 2, 3, 4) // field 17, four bytes
	return gzipped(out)
}

// halves puts the tables before the samples that use them, in a message of their own.
func halves() []byte {
	fields := encode(baseProfile(), &encoder{})
	cut := slices.IndexFunc(fields, func(f field) bool { return f.number == 4 })
	return gzipped(append(joined(fields[cut:]), joined(fields[:cut])...))
}

func sparseIDs(p *profile) {
	spread := func(id uint64) uint64 {
		if id == 0 {
			return 0
		}
		return id*0x9e3779b97f4a7c15 | 1<<63
	}
	for i := range p.mappings {
		p.mappings[i].id = spread(p.mappings[i].id)
	}
	for i := range p.functions {
		p.functions[i].id = spread(p.functions[i].id)
	}
	for i := range p.locations {
		l := &p.locations[i]
		l.id, l.mapping = spread(l.id), spread(l.mapping)
		for j := range l.lines {
			l.lines[j].function = spread(l.lines[j].function)
		}
	}
	for i := range p.samples {
		for j := range p.samples[i].locations {
			p.samples[i].locations[j] = spread(p.samples[i].locations[j])
		}
	}
}

func noMappings(p *profile) {
	p.mappings = nil
	for i := range p.locations {
		p.locations[i].mapping = 0
	}
}

func missingFunction(first, second []line) func(*profile) {
	return func(p *profile) {
		p.locations = append(p.locations, location{7, 1, 0x404000, first, false}, location{8, 1, 0x405000, second, false})
		p.samples = append(p.samples, sample{[]uint64{7, 8, 1}, []int64{9, 90}, nil})
	}
}

func noFunctions(p *profile) {
	p.functions = nil
	for i := range p.locations {
		p.locations[i].lines = nil
		p.locations[i].address += uint64(i) // the nameless ones stay apart
	}
}

func manyTypes(p *profile) {
	p.types, p.defaultType = nil, "wall-time"
	for _, name := range []string{"cpu-time/nanoseconds", "cpu-samples/count", "wall-time/nanoseconds", "wall-samples/count", "alloc-samples/count", "alloc-space/bytes", "heap-space/bytes", "lock-acquire/count", "exception-samples/count"} {
		typeName, unit, _ := strings.Cut(name, "/")
		p.types = append(p.types, valueType{typeName, unit})
	}
	for i := range p.samples {
		p.samples[i].values = make([]int64, len(p.types))
		for j := range p.types {
			p.samples[i].values[j] = int64((i + 1) * (j + 1) * (i + j) % 7)
		}
	}
}

func kernelMappings(p *profile) {
	p.mappings = append(p.mappings,
		mapping{id: 3, start: 0xffffffff81000000, limit: 0xffffffffc0000000, offset: 0xffffffff81000000, file: "[kernel.kallsyms]_text", hasFunctions: true},
		mapping{id: 4, start: 0x7fff00000000, limit: 0x7fff00002000, file: "[vdso]"},
		mapping{id: 5, start: 0x10000, limit: 0x20000},
		mapping{id: 6, start: 0x30000, limit: 0x40000, file: "//anon"})
	p.functions = append(p.functions, function{id: 7, name: "do_syscall_64", system: "do_syscall_64"})
	p.locations = append(p.locations,
		location{7, 3, 0xffffffff81abcdef, []line{{7, 0, 0}}, false},
		location{8, 4, 0x7fff00000123, nil, false},
		location{9, 5, 0x10010, nil, false},
		location{10, 6, 0x30010, nil, false})
	p.samples = append(p.samples,
		sample{[]uint64{7, 2, 1}, []int64{1, 10}, nil},
		sample{[]uint64{8, 1}, []int64{2, 20}, nil},
		sample{[]uint64{9, 1}, []int64{3, 30}, nil},
		sample{[]uint64{10, 1}, []int64{4, 40}, nil})
}

func deepStack(n int) []uint64 {
	stack := make([]uint64, n)
	for i := range stack {
		stack[i] = 4
	}
	stack[n-1] = 1
	return stack
}

// duplicateStrings appends the whole table again: no index points there.
func duplicateStrings() []byte {
	fields := encode(baseProfile(), &encoder{})
	for _, f := range fields {
		if f.number == 6 {
			fields = append(fields, f)
		}
	}
	return gzipped(joined(fields))
}

func stringOutOfRange() []byte {
	var inner, body, out wire.Message
	inner.Varint(1, 1_000_000)
	inner.Varint(3, 5)
	body.Packed(1, []uint64{3, 2, 1})
	body.Packed(2, []uint64{9, 90})
	body.Bytes(3, inner)
	out = baseBytes()
	out.Bytes(2, body)
	return gzipped(out)
}

func stringZero() []byte {
	var first wire.Message
	first.Text(6, "not empty")
	return gzipped(append(first, baseBytes()...))
}
