// SPDX-License-Identifier: Apache-2.0

// Encoding with every choice left to the shape: field order, packing, where
// the string table stands, how the profile is cut.
package main

import (
	"math/rand"

	"hearth.dev/peers/internal/wire"
)

// field is one top-level field, not yet placed.
type field struct {
	number wire.Number
	body   wire.Message // the field with its tag
}

type packing int

const (
	packLikeGo packing = iota // packed from the third number on
	packAlways
	packNever
	packMixed // some numbers packed, some not, in one message
)

// encoder collects the top-level fields of one profile; `strings` grows as
// texts are met.
type encoder struct {
	packing packing
	padded  bool // varints of top-level numbers in ten bytes
	strings []string
	known   map[string]uint64
	fields  []field
}

// encode gives the fields in the order Go's runtime writes them, the string
// table last but for the numbers that follow it there.
func encode(p *profile, e *encoder) []field {
	e.strings, e.known = []string{""}, map[string]uint64{"": 0}
	for _, t := range p.types {
		e.message(1, e.valueType(t))
	}
	for _, s := range p.samples {
		e.message(2, e.sample(s))
	}
	for _, m := range p.mappings {
		e.message(3, e.mapping(m))
	}
	for _, l := range p.locations {
		e.message(4, e.location(l))
	}
	for _, f := range p.functions {
		e.message(5, e.function(f))
	}
	e.number(7, e.text(p.drop))
	e.number(8, e.text(p.keep))
	e.number(9, uint64(p.timeNanos))
	e.number(10, uint64(p.duration))
	if p.periodType != (valueType{}) {
		e.message(11, e.valueType(p.periodType))
	}
	e.number(12, uint64(p.period))
	var comments []uint64
	for _, c := range p.comments {
		comments = append(comments, e.text(c))
	}
	var body wire.Message
	e.numbers(&body, 13, comments)
	e.place(13, body)
	e.number(14, e.text(p.defaultType))
	e.number(15, e.text(p.docURL))
	for _, s := range e.strings {
		var body wire.Message
		body.Text(6, s)
		e.place(6, body)
	}
	return e.fields
}

func (e *encoder) place(number wire.Number, body wire.Message) {
	if len(body) != 0 {
		e.fields = append(e.fields, field{number, body})
	}
}

func (e *encoder) message(number wire.Number, content wire.Message) {
	var body wire.Message
	body.Bytes(number, content)
	e.place(number, body)
}

func (e *encoder) number(number wire.Number, value uint64) {
	var body wire.Message
	if e.padded && value != 0 {
		body.PaddedVarint(number, value)
	} else {
		body.Uint(number, value)
	}
	e.place(number, body)
}

// text interns, so that the string table holds each text once.
func (e *encoder) text(s string) uint64 {
	index, ok := e.known[s]
	if !ok {
		index = uint64(len(e.strings))
		e.known[s] = index
		e.strings = append(e.strings, s)
	}
	return index
}

func (e *encoder) numbers(m *wire.Message, field wire.Number, values []uint64) {
	switch {
	case e.packing == packMixed && len(values) > 1:
		m.Varint(field, values[0])
		m.Packed(field, values[1:len(values)-1])
		m.Varint(field, values[len(values)-1])
	case e.packing == packAlways, e.packing == packLikeGo && len(values) > 2:
		m.Packed(field, values)
	default:
		m.Unpacked(field, values)
	}
}

func (e *encoder) valueType(t valueType) (m wire.Message) {
	m.Uint(1, e.text(t.name))
	m.Uint(2, e.text(t.unit))
	return m
}

func (e *encoder) sample(s sample) (m wire.Message) {
	e.numbers(&m, 1, s.locations)
	values := make([]uint64, len(s.values))
	for i, v := range s.values {
		values[i] = uint64(v)
	}
	e.numbers(&m, 2, values)
	for _, l := range s.labels {
		var inner wire.Message
		inner.Uint(1, e.text(l.key))
		inner.Uint(2, e.text(l.text))
		inner.Int(3, l.num)
		inner.Uint(4, e.text(l.unit))
		m.Bytes(3, inner)
	}
	return m
}

func (e *encoder) mapping(p mapping) (m wire.Message) {
	m.Uint(1, p.id)
	m.Uint(2, p.start)
	m.Uint(3, p.limit)
	m.Uint(4, p.offset)
	m.Uint(5, e.text(p.file))
	m.Uint(6, e.text(p.buildID))
	m.Bool(7, p.hasFunctions)
	m.Bool(8, p.hasFilenames)
	m.Bool(9, p.hasLines)
	m.Bool(10, p.hasInline)
	return m
}

func (e *encoder) location(l location) (m wire.Message) {
	m.Uint(1, l.id)
	m.Uint(2, l.mapping)
	m.Uint(3, l.address)
	for _, line := range l.lines {
		var inner wire.Message
		inner.Uint(1, line.function)
		inner.Int(2, line.line)
		inner.Int(3, line.column)
		m.Bytes(4, inner)
	}
	m.Bool(5, l.isFolded)
	return m
}

func (e *encoder) function(f function) (m wire.Message) {
	m.Uint(1, f.id)
	m.Uint(2, e.text(f.name))
	m.Uint(3, e.text(f.system))
	m.Uint(4, e.text(f.file))
	m.Int(5, f.startLine)
	return m
}

// joined writes the fields one after the other.
func joined(fields []field) []byte {
	var out []byte
	for _, f := range fields {
		out = append(out, f.body...)
	}
	return out
}

// stringsFirst moves the string table to the front.
func stringsFirst(fields []field) []field {
	var front, rest []field
	for _, f := range fields {
		if f.number == 6 {
			front = append(front, f)
		} else {
			rest = append(rest, f)
		}
	}
	return append(front, rest...)
}

// shuffled interleaves all fields at random, but keeps the order within each
// field number: there the order means something.
func shuffled(fields []field, seed int64) []field {
	queues := map[wire.Number][]field{}
	var numbers []wire.Number
	for _, f := range fields {
		queues[f.number] = append(queues[f.number], f)
		numbers = append(numbers, f.number)
	}
	random := rand.New(rand.NewSource(seed))
	random.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	out := make([]field, 0, len(fields))
	for _, n := range numbers {
		out = append(out, queues[n][0])
		queues[n] = queues[n][1:]
	}
	return out
}
