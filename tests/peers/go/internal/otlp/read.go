// SPDX-License-Identifier: Apache-2.0

// Package otlp reads OTLP profiles with the official types, checks the rules
// of the format and turns them into the common dump form.
package otlp

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pprofile"
	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
)

// ReadBinary reads a ProfilesData (or an export request: the same fields) and
// makes sure that the collector's own reader takes it too.
func ReadBinary(data []byte) (*profiles.ProfilesData, error) {
	out := &profiles.ProfilesData{}
	if err := proto.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("not a ProfilesData message: %w", err)
	}
	if _, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(data); err != nil {
		return nil, fmt.Errorf("the collector's reader refuses it: %w", err)
	}
	return out, nil
}

// ReadJSON reads OTLP JSON with the collector's reader, refusing keys that the
// schema does not have, and carries it over into the official types.
func ReadJSON(data []byte) (*profiles.ProfilesData, error) {
	read, err := (&pprofile.JSONUnmarshaler{DisallowUnknownFields: true}).UnmarshalProfiles(data)
	if err != nil {
		return nil, fmt.Errorf("the collector's JSON reader refuses it: %w", err)
	}
	binary, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(read)
	if err != nil {
		return nil, err
	}
	return ReadBinary(binary)
}
