// SPDX-License-Identifier: Apache-2.0

// The wrappings: gzip in several members or with every header field, zstd
// frames without compression (our reader needs no zstd encoder to be tested).
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
)

// gzipped compresses with an empty, dateless header, so that bytes repeat.
func gzipped(data []byte) []byte { return gzippedAs(gzip.Header{OS: 255}, data) }

func gzippedAs(header gzip.Header, data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Header = header
	w.Write(data)
	w.Close()
	return out.Bytes()
}

// gzipMembers cuts the data into n members, one of them empty.
func gzipMembers(data []byte, n int) []byte {
	var out []byte
	for i := range n {
		out = append(out, gzipped(data[len(data)*i/n:len(data)*(i+1)/n])...)
		if i == 0 {
			out = append(out, gzipped(nil)...)
		}
	}
	return out
}

const zstdMagic = 0xfd2fb528

// zstdFrame is one frame of stored blocks (RFC 8878), with the content size in
// its header or, as streaming encoders write it, without.
func zstdFrame(data []byte, hasSize bool) []byte {
	out := binary.LittleEndian.AppendUint32(nil, zstdMagic)
	if hasSize {
		out = append(out, 0b1010_0000) // four-byte content size, single segment: no window descriptor
		out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	} else {
		out = append(out, 0, 0x58) // no size; window of 2 MiB
	}
	const blockBytes = 1000
	for {
		block := data[:min(len(data), blockBytes)]
		data = data[len(block):]
		header := uint32(len(block)) << 3
		if len(data) == 0 {
			header |= 1 // the last block; block type 0: stored
		}
		out = append(out, byte(header), byte(header>>8), byte(header>>16))
		out = append(out, block...)
		if len(data) == 0 {
			return out
		}
	}
}

// zstdSkippable is a frame that every reader must step over.
func zstdSkippable(data []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, 0x184d2a50)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	return append(out, data...)
}
