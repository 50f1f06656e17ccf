// SPDX-License-Identifier: Apache-2.0

// The current layout (L10), written by the collector's own library.
package main

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

func toPdata(s scene) pprofile.Profiles {
	out := pprofile.NewProfiles()
	t := newTables(true)
	for _, r := range s.resources {
		rp := out.ResourceProfiles().AppendEmpty()
		putMap(rp.Resource().Attributes(), r.attributes)
		rp.SetSchemaUrl(r.schemaURL)
		for _, c := range r.scopes {
			sp := rp.ScopeProfiles().AppendEmpty()
			sp.Scope().SetName(c.name)
			sp.Scope().SetVersion(c.version)
			putMap(sp.Scope().Attributes(), c.attributes)
			for _, p := range c.profiles {
				putProfile(sp.Profiles().AppendEmpty(), p, t)
			}
		}
	}
	putDictionary(out.Dictionary(), t)
	return out
}

func putProfile(out pprofile.Profile, p profile, t *tables) {
	putType(out.SampleType(), p.types[0], t)
	putType(out.PeriodType(), p.periodType, t)
	out.SetPeriod(p.period)
	out.SetTime(pcommon.Timestamp(p.time))
	out.SetDurationNano(p.duration)
	if p.id != nil {
		out.SetProfileID(pprofile.ProfileID(p.id))
	}
	out.SetDroppedAttributesCount(p.droppedAttributes)
	out.SetOriginalPayloadFormat(p.payloadFormat)
	out.OriginalPayload().FromRaw(p.payload)
	out.AttributeIndices().FromRaw(t.attributeIndices(p.attributes))
	for _, s := range p.samples {
		row, sample := t.sample(s), out.Samples().AppendEmpty()
		sample.SetStackIndex(row.stack)
		sample.SetLinkIndex(max(row.link, 0))
		sample.AttributeIndices().FromRaw(row.attributes)
		sample.Values().FromRaw(row.values)
		sample.TimestampsUnixNano().FromRaw(row.timestamps)
	}
}

func putType(out pprofile.ValueType, v valueType, t *tables) {
	out.SetTypeStrindex(t.text(v.name))
	out.SetUnitStrindex(t.text(v.unit))
}

func putDictionary(out pprofile.ProfilesDictionary, t *tables) {
	out.StringTable().FromRaw(t.strings)
	for _, row := range t.functions {
		f := out.FunctionTable().AppendEmpty()
		f.SetNameStrindex(row.name)
		f.SetSystemNameStrindex(row.system)
		f.SetFilenameStrindex(row.file)
		f.SetStartLine(row.start)
	}
	for _, row := range t.mappings {
		m := out.MappingTable().AppendEmpty()
		m.SetMemoryStart(row.start)
		m.SetMemoryLimit(row.limit)
		m.SetFileOffset(row.offset)
		m.SetFilenameStrindex(row.file)
		m.AttributeIndices().FromRaw(row.attributes)
	}
	for _, row := range t.locations {
		l := out.LocationTable().AppendEmpty()
		l.SetMappingIndex(max(row.mapping, 0))
		l.SetAddress(row.address)
		l.AttributeIndices().FromRaw(row.attributes)
		for _, line := range row.lines {
			n := l.Lines().AppendEmpty()
			n.SetFunctionIndex(line.function)
			n.SetLine(line.line)
			n.SetColumn(line.column)
		}
	}
	for _, row := range t.attributes {
		a := out.AttributeTable().AppendEmpty()
		a.SetKeyStrindex(row.key)
		a.SetUnitStrindex(row.unit)
		putValue(a.Value(), row.value)
	}
	for _, row := range t.links {
		l := out.LinkTable().AppendEmpty()
		l.SetTraceID(row.trace)
		l.SetSpanID(row.span)
	}
	for _, row := range t.stacks {
		out.StackTable().AppendEmpty().LocationIndices().FromRaw(row)
	}
}

func putMap(out pcommon.Map, list []attribute) {
	for _, a := range list {
		putValue(out.PutEmpty(a.key), a.value)
	}
}

func putValue(out pcommon.Value, value any) {
	switch v := value.(type) {
	case string:
		out.SetStr(v)
	case bool:
		out.SetBool(v)
	case int64:
		out.SetInt(v)
	case float64:
		out.SetDouble(v)
	case []byte:
		out.SetEmptyBytes().FromRaw(v)
	case []any:
		list := out.SetEmptySlice()
		for _, item := range v {
			putValue(list.AppendEmpty(), item)
		}
	case []attribute:
		putMap(out.SetEmptyMap(), v)
	}
}
