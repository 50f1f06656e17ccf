// SPDX-License-Identifier: Apache-2.0

// The rules of the format, in our own words: those that the profiling SIG's
// profcheck enforces, and a few that the schema states and it does not check.

package otlp

import (
	"fmt"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Strictness turns on the two rules that a valid file may break.
type Strictness struct {
	Duplicates bool // no table holds an entry twice
	Orphans    bool // every entry is referred to
}

type table int

const (
	mappingTable table = iota
	locationTable
	functionTable
	linkTable
	stringTable
	attributeTable
	stackTable
	tableCount
)

var tableNames = [tableCount]string{"mapping_table", "location_table", "function_table", "link_table",
	"string_table", "attribute_table", "stack_table"}

// checker walks the message once, noting every broken rule and every entry used.
type checker struct {
	dictionary
	sizes    [tableCount]int
	used     [tableCount]map[int32]bool
	problems []string
}

// Check returns one line per broken rule, none when the data is as it should be.
func Check(data *profiles.ProfilesData, strict Strictness) []string {
	c := &checker{dictionary: dictionary{data.GetDictionary()}}
	c.sizes = [tableCount]int{len(c.GetMappingTable()), len(c.GetLocationTable()), len(c.GetFunctionTable()),
		len(c.GetLinkTable()), len(c.GetStringTable()), len(c.GetAttributeTable()), len(c.GetStackTable())}
	for i := range c.used {
		c.used[i] = map[int32]bool{0: true}
	}
	if data.GetDictionary() == nil {
		c.broken("dictionary", "is missing")
	}
	c.unknownFields("", data.ProtoReflect())
	c.zeroEntries()
	c.tables()
	c.resources(data.GetResourceProfiles())
	if strict.Duplicates {
		c.duplicates()
	}
	if strict.Orphans {
		c.orphans()
	}
	return c.problems
}

func (c *checker) broken(where, format string, args ...any) {
	c.problems = append(c.problems, where+": "+fmt.Sprintf(format, args...))
}

// refer checks one index and marks what it points at.
func (c *checker) refer(where string, to table, index int32) {
	if index < 0 || int(index) >= c.sizes[to] {
		c.broken(where, "index %d is outside %s of %d entries", index, tableNames[to], c.sizes[to])
		return
	}
	c.used[to][index] = true
}

// unknownFields finds what this layout of the format does not have.
func (c *checker) unknownFields(where string, m protoreflect.Message) {
	if unknown := m.GetUnknown(); len(unknown) != 0 {
		c.broken(where+string(m.Descriptor().Name()), "has %d bytes of unknown fields", len(unknown))
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		path := where + string(field.Name()) + "."
		if field.IsList() {
			for i := range value.List().Len() {
				c.unknownFields(path, value.List().Get(i).Message())
			}
		} else {
			c.unknownFields(path, value.Message())
		}
		return true
	})
}

// zeroEntries: element 0 of each table exists and means "none".
func (c *checker) zeroEntries() {
	for i, size := range c.sizes {
		if size == 0 {
			c.broken(tableNames[i], "is empty, element 0 must be there")
		}
	}
	if c.sizes[stringTable] > 0 && c.StringTable[0] != "" {
		c.broken("string_table[0]", "is %q, must be empty", c.StringTable[0])
	}
	if c.sizes[attributeTable] > 0 {
		first := c.AttributeTable[0]
		if first.KeyStrindex != 0 || first.UnitStrindex != 0 || first.GetValue().GetValue() != nil {
			c.broken("attribute_table[0]", "must have no key, value or unit")
		}
	}
	zero(c, mappingTable, c.GetMappingTable())
	zero(c, locationTable, c.GetLocationTable())
	zero(c, functionTable, c.GetFunctionTable())
	zero(c, linkTable, c.GetLinkTable())
	zero(c, stackTable, c.GetStackTable())
}

func zero[T proto.Message](c *checker, which table, entries []T) {
	if len(entries) > 0 && proto.Size(entries[0]) != 0 {
		c.broken(tableNames[which]+"[0]", "must be the zero value, is %v", entries[0])
	}
}

func (c *checker) tables() {
	for i, m := range c.GetMappingTable() {
		where := fmt.Sprintf("mapping_table[%d]", i)
		c.refer(where+".filename_strindex", stringTable, m.FilenameStrindex)
		c.attributes(where, m.AttributeIndices)
		if (m.MemoryStart != 0 || m.MemoryLimit != 0) && m.MemoryStart >= m.MemoryLimit {
			c.broken(where, "memory_start 0x%x is not below memory_limit 0x%x", m.MemoryStart, m.MemoryLimit)
		}
	}
	for i, l := range c.GetLocationTable() {
		where := fmt.Sprintf("location_table[%d]", i)
		c.refer(where+".mapping_index", mappingTable, l.MappingIndex)
		c.attributes(where, l.AttributeIndices)
		for j, line := range l.Lines {
			at := fmt.Sprintf("%s.lines[%d]", where, j)
			c.refer(at+".function_index", functionTable, line.FunctionIndex)
			c.notNegative(at+".line", line.Line)
			c.notNegative(at+".column", line.Column)
		}
	}
	for i, f := range c.GetFunctionTable() {
		where := fmt.Sprintf("function_table[%d]", i)
		c.refer(where+".name_strindex", stringTable, f.NameStrindex)
		c.refer(where+".system_name_strindex", stringTable, f.SystemNameStrindex)
		c.refer(where+".filename_strindex", stringTable, f.FilenameStrindex)
		c.notNegative(where+".start_line", f.StartLine)
		if i > 0 && f.NameStrindex == 0 && f.SystemNameStrindex == 0 && f.FilenameStrindex == 0 {
			c.broken(where, "has no name, no system name and no file name")
		}
	}
	for i, l := range c.GetLinkTable() {
		if i > 0 && (len(l.TraceId) != 16 || len(l.SpanId) != 8) {
			c.broken(fmt.Sprintf("link_table[%d]", i), "trace_id has %d bytes and span_id %d, must be 16 and 8",
				len(l.TraceId), len(l.SpanId))
		}
	}
	for i, a := range c.GetAttributeTable() {
		where := fmt.Sprintf("attribute_table[%d]", i)
		c.refer(where+".key_strindex", stringTable, a.KeyStrindex)
		c.refer(where+".unit_strindex", stringTable, a.UnitStrindex)
		c.value(where+".value", a.Value)
	}
	for i, s := range c.GetStackTable() {
		for j, index := range s.LocationIndices {
			c.refer(fmt.Sprintf("stack_table[%d].location_indices[%d]", i, j), locationTable, index)
		}
	}
}

func (c *checker) resources(list []*profiles.ResourceProfiles) {
	if len(list) == 0 {
		c.broken("resource_profiles", "is empty")
	}
	for i, rp := range list {
		where := fmt.Sprintf("resource_profiles[%d]", i)
		c.keyValues(where+".resource.attributes", rp.GetResource().GetAttributes())
		if len(rp.ScopeProfiles) == 0 {
			c.broken(where, "has no scope_profiles")
		}
		for j, sp := range rp.ScopeProfiles {
			at := fmt.Sprintf("%s.scope_profiles[%d]", where, j)
			c.keyValues(at+".scope.attributes", sp.GetScope().GetAttributes())
			if len(sp.Profiles) == 0 {
				c.broken(at, "has no profiles")
			}
			for k, p := range sp.Profiles {
				c.profile(fmt.Sprintf("%s.profiles[%d]", at, k), p)
			}
		}
	}
}

func (c *checker) profile(where string, p *profiles.Profile) {
	for _, t := range []struct {
		name  string
		value *profiles.ValueType
	}{{"sample_type", p.SampleType}, {"period_type", p.PeriodType}} {
		c.refer(where+"."+t.name+".type_strindex", stringTable, t.value.GetTypeStrindex())
		c.refer(where+"."+t.name+".unit_strindex", stringTable, t.value.GetUnitStrindex())
	}
	c.attributes(where, p.AttributeIndices)
	if n := len(p.ProfileId); n != 0 && n != 16 {
		c.broken(where+".profile_id", "has %d bytes, must be 16 or none", n)
	}
	if (p.OriginalPayloadFormat == "") != (len(p.OriginalPayload) == 0) {
		c.broken(where, "original_payload and original_payload_format go together")
	}
	first := ""
	for i, s := range p.Samples {
		at := fmt.Sprintf("%s.samples[%d]", where, i)
		c.refer(at+".stack_index", stackTable, s.StackIndex)
		c.refer(at+".link_index", linkTable, s.LinkIndex)
		c.attributes(at, s.AttributeIndices)
		for _, time := range s.TimestampsUnixNano {
			if time < p.TimeUnixNano || time >= p.TimeUnixNano+p.DurationNano {
				c.broken(at, "timestamp %d is outside [%d, %d)", time, p.TimeUnixNano, p.TimeUnixNano+p.DurationNano)
			}
		}
		if shape := c.shape(at, s); first == "" {
			first = shape
		} else if shape != first {
			c.broken(at, "has %s where the first sample of the profile has %s", shape, first)
		}
	}
}

// shape names which of the three legal forms a sample has.
func (c *checker) shape(where string, s *profiles.Sample) string {
	values, times := len(s.Values), len(s.TimestampsUnixNano)
	switch {
	case values == 0 && times == 0:
		c.broken(where, "has neither values nor timestamps")
		return "nothing"
	case values == 0:
		return "timestamps only"
	case times == 0:
		if values != 1 {
			c.broken(where, "has %d values and no timestamps, must be one value", values)
		}
		return "values only"
	}
	if values != times {
		c.broken(where, "has %d values but %d timestamps", values, times)
	}
	return "values and timestamps"
}

// attributes: each index is good, and one element has each key once.
func (c *checker) attributes(where string, indices []int32) {
	seen := map[string]bool{}
	for i, index := range indices {
		c.refer(fmt.Sprintf("%s.attribute_indices[%d]", where, i), attributeTable, index)
		key := c.text(at(c.GetAttributeTable(), index).KeyStrindex)
		if seen[key] {
			c.broken(where, "has the attribute key %q twice", key)
		}
		seen[key] = true
	}
}

func (c *checker) keyValues(where string, list []*common.KeyValue) {
	seen := map[string]bool{}
	for _, kv := range list {
		c.refer(where+".key_strindex", stringTable, kv.KeyStrindex)
		if kv.KeyStrindex != 0 && kv.Key != "" {
			c.broken(where, "has both key %q and key_strindex %d", kv.Key, kv.KeyStrindex)
		}
		key := c.key(kv)
		if seen[key] {
			c.broken(where, "has the key %q twice", key)
		}
		seen[key] = true
		c.value(where+"."+key, kv.Value)
	}
}

func (c *checker) value(where string, v *common.AnyValue) {
	switch x := v.GetValue().(type) {
	case *common.AnyValue_StringValueStrindex:
		c.refer(where+".string_value_strindex", stringTable, x.StringValueStrindex)
	case *common.AnyValue_ArrayValue:
		for _, item := range x.ArrayValue.GetValues() {
			c.value(where, item)
		}
	case *common.AnyValue_KvlistValue:
		c.keyValues(where, x.KvlistValue.GetValues())
	}
}

func (c *checker) notNegative(where string, value int64) {
	if value < 0 {
		c.broken(where, "is %d, must not be negative", value)
	}
}

func (c *checker) duplicates() {
	seen := map[string]int{}
	for i, s := range c.GetStringTable() {
		if first, ok := seen[s]; ok {
			c.broken(fmt.Sprintf("string_table[%d]", i), "repeats [%d]: %q", first, s)
		} else {
			seen[s] = i
		}
	}
	repeats(c, mappingTable, c.GetMappingTable())
	repeats(c, locationTable, c.GetLocationTable())
	repeats(c, functionTable, c.GetFunctionTable())
	repeats(c, linkTable, c.GetLinkTable())
	repeats(c, attributeTable, c.GetAttributeTable())
	repeats(c, stackTable, c.GetStackTable())
}

func repeats[T proto.Message](c *checker, which table, entries []T) {
	seen := map[string]int{}
	for i, entry := range entries {
		bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(entry)
		if first, ok := seen[string(bytes)]; ok {
			c.broken(fmt.Sprintf("%s[%d]", tableNames[which], i), "repeats [%d]: %v", first, entry)
		} else {
			seen[string(bytes)] = i
		}
	}
}

func (c *checker) orphans() {
	for which, size := range c.sizes {
		for i := range int32(size) {
			if !c.used[which][i] {
				c.broken(fmt.Sprintf("%s[%d]", tableNames[which], i), "is used by nothing")
			}
		}
	}
}
