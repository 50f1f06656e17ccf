// SPDX-License-Identifier: Apache-2.0

// Package wire appends protobuf fields one by one, in whatever order and shape
// the caller wants: the point is to write what ordinary encoders do not.
package wire

import "google.golang.org/protobuf/encoding/protowire"

// Number is a protobuf field number.
type Number = protowire.Number

// Message is an encoded message that fields are appended to.
type Message []byte

// Varint writes the field even when it is zero.
func (m *Message) Varint(field Number, value uint64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, value)
}

// Uint writes the field unless it is zero, as proto3 encoders do.
func (m *Message) Uint(field Number, value uint64) {
	if value != 0 {
		m.Varint(field, value)
	}
}

// Int is Uint for signed numbers: negative ones take ten bytes.
func (m *Message) Int(field Number, value int64) { m.Uint(field, uint64(value)) }

// Bool writes true and leaves out false.
func (m *Message) Bool(field Number, value bool) {
	if value {
		m.Varint(field, 1)
	}
}

// Fixed64 writes the field even when it is zero.
func (m *Message) Fixed64(field Number, value uint64) {
	*m = protowire.AppendTag(*m, field, protowire.Fixed64Type)
	*m = protowire.AppendFixed64(*m, value)
}

// Bytes writes a length-delimited field even when it is empty.
func (m *Message) Bytes(field Number, value []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, value)
}

// Text writes a string field even when it is empty.
func (m *Message) Text(field Number, value string) { m.Bytes(field, []byte(value)) }

// Packed writes the numbers as one packed field, or nothing when there are none.
func (m *Message) Packed(field Number, values []uint64) {
	if len(values) == 0 {
		return
	}
	var body []byte
	for _, v := range values {
		body = protowire.AppendVarint(body, v)
	}
	m.Bytes(field, body)
}

// PackedFixed64 is Packed for eight-byte numbers.
func (m *Message) PackedFixed64(field Number, values []uint64) {
	if len(values) == 0 {
		return
	}
	var body []byte
	for _, v := range values {
		body = protowire.AppendFixed64(body, v)
	}
	m.Bytes(field, body)
}

// Unpacked writes one field per number.
func (m *Message) Unpacked(field Number, values []uint64) {
	for _, v := range values {
		m.Varint(field, v)
	}
}

// PaddedVarint writes the value with needless continuation bytes, ten in all:
// legal, and written by encoders that reserve space and patch it later.
func (m *Message) PaddedVarint(field Number, value uint64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	for i := 0; i < 9; i++ {
		*m = append(*m, byte(value&0x7f)|0x80)
		value >>= 7
	}
	*m = append(*m, byte(value))
}
