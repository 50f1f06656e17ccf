// SPDX-License-Identifier: Apache-2.0

// Looking things up in the dictionary that all profiles of a message share.

package otlp

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
)

// dictionary resolves indexes and never panics: a bad index gives the zero
// entry, since reporting it is the checker's job.
type dictionary struct{ *profiles.ProfilesDictionary }

func at[T any](table []*T, index int32) *T {
	if index < 0 || int(index) >= len(table) || table[index] == nil {
		return new(T)
	}
	return table[index]
}

func (d dictionary) text(index int32) string {
	if index < 0 || int(index) >= len(d.GetStringTable()) {
		return ""
	}
	return d.StringTable[index]
}

func (d dictionary) key(kv *common.KeyValue) string {
	if kv.GetKeyStrindex() != 0 {
		return d.text(kv.KeyStrindex)
	}
	return kv.GetKey()
}

func (d dictionary) typeName(t *profiles.ValueType) string {
	if t.GetTypeStrindex() == 0 && t.GetUnitStrindex() == 0 {
		return ""
	}
	return d.text(t.TypeStrindex) + "/" + d.text(t.UnitStrindex)
}

// find returns the value of the first attribute that has one of the keys.
func (d dictionary) find(indices []int32, keys ...string) *common.AnyValue {
	for _, key := range keys {
		for _, index := range indices {
			attribute := at(d.GetAttributeTable(), index)
			if d.text(attribute.KeyStrindex) == key {
				return attribute.Value
			}
		}
	}
	return nil
}

func (d dictionary) findIn(list []*common.KeyValue, key string) *common.AnyValue {
	for _, kv := range list {
		if d.key(kv) == key {
			return kv.Value
		}
	}
	return nil
}

// plain turns a value into what encoding/json can print; bytes become base64.
func (d dictionary) plain(v *common.AnyValue) any {
	switch x := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return x.StringValue
	case *common.AnyValue_StringValueStrindex:
		return d.text(x.StringValueStrindex)
	case *common.AnyValue_BoolValue:
		return x.BoolValue
	case *common.AnyValue_IntValue:
		return x.IntValue
	case *common.AnyValue_DoubleValue:
		return strconv.FormatFloat(x.DoubleValue, 'g', -1, 64)
	case *common.AnyValue_BytesValue:
		return base64.StdEncoding.EncodeToString(x.BytesValue)
	case *common.AnyValue_ArrayValue:
		list := []any{}
		for _, item := range x.ArrayValue.GetValues() {
			list = append(list, d.plain(item))
		}
		return list
	case *common.AnyValue_KvlistValue:
		object := map[string]any{}
		for _, kv := range x.KvlistValue.GetValues() {
			object[d.key(kv)] = d.plain(kv.Value)
		}
		return object
	}
	return nil
}

// show is plain as one text: strings as they are, everything else as JSON.
func (d dictionary) show(v *common.AnyValue) string {
	switch x := d.plain(v).(type) {
	case nil:
		return ""
	case string:
		return x
	default:
		out, _ := json.Marshal(x)
		return string(out)
	}
}
