// SPDX-License-Identifier: Apache-2.0

// The layouts before the current one, L7 to L9, field by field as the
// collector's library of that time wrote them: in descending order, with the
// zero-length fields it always wrote.
package main

import (
	"math"

	"hearth.dev/peers/internal/wire"
)

// layout names what changed between versions of the format.
type layout int

const (
	layout7 layout = 7 // proto 1.7: collector 0.128 to 0.135
	layout8 layout = 8 // proto 1.8: collector 0.136 to 0.139
	layout9 layout = 9 // proto 1.9: collector 0.140 to 0.147
)

type legacy struct {
	layout
	*tables
}

func toLegacy(s scene, which layout) []byte {
	e := legacy{which, newTables(which > layout7)}
	var resources []wire.Message
	for _, r := range s.resources {
		resources = append(resources, e.resource(r))
	}
	var out wire.Message
	out.Bytes(2, e.dictionary())
	for _, r := range resources {
		out.Bytes(1, r)
	}
	return out
}

func (e legacy) resource(r resource) (m wire.Message) {
	var attributes wire.Message
	for _, a := range r.attributes {
		attributes.Bytes(1, keyValue(a.key, a.value))
	}
	var scopes []wire.Message
	for _, s := range r.scopes {
		scopes = append(scopes, e.scope(s))
	}
	if r.schemaURL != "" {
		m.Text(3, r.schemaURL)
	}
	for _, s := range scopes {
		m.Bytes(2, s)
	}
	m.Bytes(1, attributes)
	return m
}

func (e legacy) scope(s scope) (m wire.Message) {
	for _, p := range s.profiles {
		m.Bytes(2, e.profile(p))
	}
	var inner wire.Message
	for _, a := range s.attributes {
		inner.Bytes(3, keyValue(a.key, a.value))
	}
	inner.Text(2, s.version)
	inner.Text(1, s.name)
	m.Bytes(1, inner)
	return m
}

func (e legacy) profile(p profile) wire.Message {
	for _, c := range p.comments {
		p.commentIndices = append(p.commentIndices, e.text(c))
	}
	switch e.layout {
	case layout7:
		return e.profile7(p)
	case layout8:
		return e.profile8(p)
	}
	return e.profile9(p)
}

// profile7: stacks are runs of one list of location indexes in the profile.
func (e legacy) profile7(p profile) (m wire.Message) {
	var types, samples []wire.Message
	for _, t := range p.types {
		types = append(types, e.valueType(t, p.aggregationOfTypes))
	}
	var places []int32
	for _, s := range p.samples {
		row := e.sample(s)
		samples = append(samples, sample7(row, len(places)))
		places = append(places, row.locations...)
	}
	m.Packed(14, numbers(e.attributeIndices(p.attributes)))
	payload(&m, 12, p)
	m.Uint(11, uint64(p.droppedAttributes))
	m.Bytes(10, p.id)
	m.Int(9, int64(p.defaultType))
	m.Packed(8, numbers(p.commentIndices))
	m.Int(7, p.period)
	m.Bytes(6, e.valueType(p.periodType, 0))
	m.Uint(5, p.duration)
	m.Uint(4, p.time)
	m.Packed(3, numbers(places))
	repeated(&m, 2, samples)
	repeated(&m, 1, types)
	return m
}

func sample7(row sampleRow, start int) (m wire.Message) {
	m.Packed(6, row.timestamps)
	if row.link != noIndex {
		m.Varint(5, uint64(row.link)) // optional: 0 is a link, absent is none
	}
	m.Packed(4, numbers(row.attributes))
	m.Packed(3, numbers(row.values))
	m.Uint(2, uint64(len(row.locations)))
	m.Uint(1, uint64(start))
	return m
}

func (e legacy) profile8(p profile) (m wire.Message) {
	m.Packed(12, numbers(e.attributeIndices(p.attributes)))
	payload(&m, 10, p)
	m.Uint(9, uint64(p.droppedAttributes))
	m.Bytes(8, p.id)
	m.Packed(7, numbers(p.commentIndices))
	e.window(&m, p)
	return m
}

func (e legacy) profile9(p profile) (m wire.Message) {
	m.Packed(11, numbers(e.attributeIndices(p.attributes)))
	payload(&m, 9, p)
	m.Uint(8, uint64(p.droppedAttributes))
	m.Bytes(7, p.id)
	e.window(&m, p)
	return m
}

// window writes fields 6 to 1, which L8 and L9 have in common.
func (e legacy) window(m *wire.Message, p profile) {
	m.Int(6, p.period)
	m.Bytes(5, e.valueType(p.periodType, 0))
	m.Uint(4, p.duration)
	if p.time != 0 {
		m.Fixed64(3, p.time)
	}
	for _, s := range p.samples {
		m.Bytes(2, sample89(e.sample(s)))
	}
	m.Bytes(1, e.valueType(p.types[0], p.aggregationOfTypes))
}

func sample89(row sampleRow) (m wire.Message) {
	m.PackedFixed64(5, row.timestamps)
	m.Uint(4, uint64(max(row.link, 0)))
	m.Packed(3, numbers(row.attributes))
	m.Packed(2, numbers(row.values))
	m.Uint(1, uint64(row.stack))
	return m
}

// valueType: L7 and L8 have an aggregation temporality (1 delta, 2 cumulative).
func (e legacy) valueType(t valueType, aggregation uint64) (m wire.Message) {
	if e.layout < layout9 {
		m.Uint(3, aggregation)
	}
	m.Uint(2, uint64(e.text(t.unit)))
	m.Uint(1, uint64(e.text(t.name)))
	return m
}

func payload(m *wire.Message, format wire.Number, p profile) {
	if len(p.payload) != 0 {
		m.Bytes(format+1, p.payload)
		m.Text(format, p.payloadFormat)
	}
}

func (e legacy) dictionary() (m wire.Message) {
	var attributes, units, stacks []wire.Message
	seen := map[int32]bool{}
	for _, row := range e.attributes {
		if e.layout == layout7 {
			attributes = append(attributes, keyValue(row.name, row.value))
			if row.unit != 0 && !seen[row.key] {
				var unit wire.Message
				unit.Uint(2, uint64(row.unit))
				unit.Uint(1, uint64(row.key))
				units = append(units, unit)
				seen[row.key] = true
			}
			continue
		}
		var a wire.Message
		a.Uint(3, uint64(row.unit))
		a.Bytes(2, anyValue(row.value))
		a.Uint(1, uint64(row.key))
		attributes = append(attributes, a)
	}
	for _, row := range e.stacks {
		var stack wire.Message
		stack.Packed(1, numbers(row))
		stacks = append(stacks, stack)
	}
	repeated(&m, 7, units) // one of the two is empty
	repeated(&m, 7, stacks)
	repeated(&m, 6, attributes)
	for _, s := range e.strings {
		m.Text(5, s)
	}
	for _, row := range e.links {
		var l wire.Message
		l.Bytes(2, orEmpty(row.span[:]))
		l.Bytes(1, orEmpty(row.trace[:]))
		m.Bytes(4, l)
	}
	for _, row := range e.functions {
		var f wire.Message
		f.Int(4, row.start)
		f.Uint(3, uint64(row.file))
		f.Uint(2, uint64(row.system))
		f.Uint(1, uint64(row.name))
		m.Bytes(3, f)
	}
	for _, row := range e.locations {
		m.Bytes(2, e.locationMessage(row))
	}
	for _, row := range e.mappings {
		m.Bytes(1, mappingMessage(row))
	}
	return m
}

func (e legacy) locationMessage(row locationRow) (m wire.Message) {
	attributes := wire.Number(4)
	if e.layout == layout7 {
		attributes = 5 // 4 is is_folded
	}
	m.Packed(attributes, numbers(row.attributes))
	for _, line := range row.lines {
		var l wire.Message
		l.Int(3, line.column)
		l.Int(2, line.line)
		l.Uint(1, uint64(line.function))
		m.Bytes(3, l)
	}
	m.Uint(2, row.address)
	switch {
	case row.mapping == noIndex:
	case e.layout == layout7:
		m.Varint(1, uint64(row.mapping)) // optional: 0 is a mapping, absent is none
	default:
		m.Uint(1, uint64(row.mapping))
	}
	return m
}

func mappingMessage(row mappingRow) (m wire.Message) {
	m.Packed(5, numbers(row.attributes))
	m.Uint(4, uint64(row.file))
	m.Uint(3, row.offset)
	m.Uint(2, row.limit)
	m.Uint(1, row.start)
	return m
}

func keyValue(key string, value any) (m wire.Message) {
	m.Bytes(2, anyValue(value))
	m.Text(1, key)
	return m
}

func anyValue(value any) (m wire.Message) {
	switch v := value.(type) {
	case string:
		m.Text(1, v)
	case bool:
		m.Varint(2, map[bool]uint64{true: 1}[v])
	case int64:
		m.Varint(3, uint64(v))
	case float64:
		m.Fixed64(4, math.Float64bits(v))
	case []any:
		var list wire.Message
		for _, item := range v {
			list.Bytes(1, anyValue(item))
		}
		m.Bytes(5, list)
	case []attribute:
		var list wire.Message
		for _, a := range v {
			list.Bytes(1, keyValue(a.key, a.value))
		}
		m.Bytes(6, list)
	case []byte:
		m.Bytes(7, v)
	}
	return m
}

func repeated(m *wire.Message, field wire.Number, list []wire.Message) {
	for _, item := range list {
		m.Bytes(field, item)
	}
}

func numbers[T int32 | int64](list []T) []uint64 {
	out := make([]uint64, len(list))
	for i, v := range list {
		out[i] = uint64(v)
	}
	return out
}

// orEmpty writes an all-zero id as the zero-length field the library wrote.
func orEmpty(id []byte) []byte {
	for _, b := range id {
		if b != 0 {
			return id
		}
	}
	return nil
}
