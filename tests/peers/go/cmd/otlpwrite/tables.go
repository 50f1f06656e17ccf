// SPDX-License-Identifier: Apache-2.0

// Cutting a scene into the dictionary's tables; every layout is written from
// these rows.
package main

import (
	"fmt"
	"slices"
)

type functionRow struct {
	name, system, file int32
	start              int64
}

type mappingRow struct {
	start, limit, offset uint64
	file                 int32
	attributes           []int32
}

type lineRow struct {
	function     int32
	line, column int64
}

type locationRow struct {
	mapping    int32 // noIndex: none
	address    uint64
	lines      []lineRow
	attributes []int32
}

type attributeRow struct {
	key, unit int32
	name      string
	value     any
}

type sampleRow struct {
	stack      int32
	locations  []int32
	attributes []int32
	link       int32 // noIndex: none
	values     []int64
	timestamps []uint64
}

// noIndex is "none": 0 where element 0 is reserved, absent where it is not.
const noIndex = -1

// tables is a dictionary under construction. From layout L8 on, element 0 of
// each table is reserved for "none"; in L7 only that of the string table.
type tables struct {
	hasZero    bool
	strings    []string
	functions  []functionRow
	mappings   []mappingRow
	locations  []locationRow
	attributes []attributeRow
	links      []link
	stacks     [][]int32
	known      map[string]int32
}

func newTables(hasZero bool) *tables {
	t := &tables{hasZero: hasZero, strings: []string{""}, known: map[string]int32{}}
	if hasZero {
		t.functions = append(t.functions, functionRow{})
		t.mappings = append(t.mappings, mappingRow{})
		t.locations = append(t.locations, locationRow{mapping: noIndex})
		t.attributes = append(t.attributes, attributeRow{})
		t.links = append(t.links, link{})
		t.stacks = append(t.stacks, nil)
	}
	return t
}

// intern appends the row unless an equal one is known, and returns its index.
func intern[T any](t *tables, kind string, rows *[]T, row T) int32 {
	key := fmt.Sprintf("%s %#v", kind, row)
	index, ok := t.known[key]
	if !ok {
		index = int32(len(*rows))
		*rows = append(*rows, row)
		t.known[key] = index
	}
	return index
}

func (t *tables) text(s string) int32 {
	if s == "" {
		return 0
	}
	return intern(t, "string", &t.strings, s)
}

func (t *tables) attributeIndices(list []attribute) []int32 {
	var out []int32
	for _, a := range list {
		row := attributeRow{t.text(a.key), t.text(a.unit), a.key, a.value}
		out = append(out, intern(t, "attribute", &t.attributes, row))
	}
	return out
}

func (t *tables) mapping(m *mapping) int32 {
	if m == nil {
		return noIndex
	}
	return intern(t, "mapping", &t.mappings, mappingRow{m.start, m.limit, m.offset, t.text(m.file), t.attributeIndices(m.attributes)})
}

func (t *tables) location(l location) int32 {
	row := locationRow{mapping: t.mapping(l.mapping), address: l.address, attributes: t.attributeIndices(l.attributes)}
	for _, line := range l.lines {
		f := line.function
		index := intern(t, "function", &t.functions, functionRow{t.text(f.name), t.text(f.system), t.text(f.file), f.start})
		row.lines = append(row.lines, lineRow{index, line.line, line.column})
	}
	return intern(t, "location", &t.locations, row)
}

func (t *tables) sample(s sample) sampleRow {
	row := sampleRow{link: noIndex, values: s.values, timestamps: s.timestamps, attributes: t.attributeIndices(s.attributes)}
	for _, l := range s.stack {
		row.locations = append(row.locations, t.location(l))
	}
	if len(row.locations) != 0 && t.hasZero {
		row.stack = intern(t, "stack", &t.stacks, slices.Clone(row.locations))
	}
	if s.link != nil {
		row.link = intern(t, "link", &t.links, *s.link)
	}
	return row
}
