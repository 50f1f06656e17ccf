// SPDX-License-Identifier: Apache-2.0

// From profile to lines.

package dump

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lines prints the profile: notes, the header in a fixed order, the mappings
// sorted, the samples sorted.
func (p *Profile) Lines(o *Options) ([]string, error) {
	columns, err := p.columns(o.Type)
	if err != nil {
		return nil, err
	}
	lines := append([]string{}, p.Notes...)
	if !o.NoHeader {
		lines = append(lines, p.header(columns)...)
		if !o.NoMappings && !o.NamesOnly {
			lines = append(lines, p.mappings(o)...)
		}
	}
	return append(lines, p.samples(o, columns)...), nil
}

// columns lists the value columns to keep: all, or those of the named type.
func (p *Profile) columns(name string) ([]int, error) {
	var keep []int
	for i, t := range p.Types {
		if name == "" || strings.HasPrefix(t, name+"/") {
			keep = append(keep, i)
		}
	}
	if name != "" && keep == nil {
		return nil, fmt.Errorf("no sample type %q, there are: %s", name, strings.Join(p.Types, " "))
	}
	return keep, nil
}

func (p *Profile) header(columns []int) []string {
	var lines []string
	for _, i := range columns {
		lines = append(lines, "type "+escape(p.Types[i]))
	}
	lines = append(lines,
		"default "+escape(p.Default),
		fmt.Sprintf("period %s %d", escape(p.PeriodType), p.Period),
		fmt.Sprintf("time %d", p.Time),
		fmt.Sprintf("duration %d", p.Duration))
	for _, c := range p.Comments {
		lines = append(lines, "comment "+escape(c))
	}
	return append(lines,
		"drop "+escape(p.DropFrames),
		"keep "+escape(p.KeepFrames),
		"doc "+escape(p.DocURL))
}

func (p *Profile) mappings(o *Options) []string {
	var lines []string
	for _, m := range p.Mappings {
		where := "- - -"
		if !o.NoAddress {
			where = fmt.Sprintf("0x%x 0x%x 0x%x", m.Start, m.Limit, m.Offset)
		}
		lines = append(lines, fmt.Sprintf("mapping %s|%s %s %s",
			escape(m.File), escape(m.BuildID), where, strings.Join(m.Flags, ",")))
	}
	sort.Strings(lines)
	return lines
}

func (p *Profile) samples(o *Options, columns []int) []string {
	lines := make([]string, 0, len(p.Samples))
	sums := map[string][]int64{}
	for _, s := range p.Samples {
		values := make([]int64, len(columns))
		for i, column := range columns {
			values[i] = s.Values[column]
		}
		key := "sample " + stack(s.Stack, o)
		if !o.NoLabels {
			key += " " + labels(s.Labels)
		}
		if o.Sum {
			sums[key] = addSaturated(sums[key], values)
		} else {
			lines = append(lines, key+numbers(values))
		}
	}
	for key, values := range sums {
		if slices.ContainsFunc(values, func(v int64) bool { return v != 0 }) {
			lines = append(lines, key+numbers(values))
		}
	}
	sort.Strings(lines)
	return lines
}

func stack(frames []Frame, o *Options) string {
	var parts []string
	for _, f := range frames {
		parts = append(parts, f.text(o))
	}
	return strings.Join(parts, " ; ")
}

func (f *Frame) text(o *Options) string {
	name := escape(f.Name)
	if o.NamesOnly {
		return name
	}
	if !o.NoSystem && f.SystemName != "" && f.SystemName != f.Name {
		name += `\=` + escape(f.SystemName)
	}
	address := "-"
	if !o.NoAddress {
		address = fmt.Sprintf("0x%x", f.Address)
	}
	text := fmt.Sprintf("%s|%s|%d|%d|%d|%s|%s|%s", name, escape(f.File), f.Line, f.Column, f.StartLine,
		address, escape(f.MappingFile), escape(f.BuildID))
	if f.Inlined {
		text += "|inlined"
	}
	if f.Folded {
		text += "|folded"
	}
	return text
}

// labels prints key="text" and key=number unit, sorted by key and, within a
// key, in file order: the order of several values of one key has a meaning.
func labels(list []Label) string {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Label) int {
		if a.Key != b.Key {
			return strings.Compare(a.Key, b.Key)
		}
		if a.IsNum != b.IsNum && b.IsNum {
			return -1
		}
		if a.IsNum != b.IsNum {
			return 1
		}
		return 0
	})
	var parts []string
	for _, l := range sorted {
		if l.IsNum {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s=%d %s", escape(l.Key), l.Num, escape(l.NumUnit))))
		} else {
			parts = append(parts, fmt.Sprintf("%s=%q", escape(l.Key), l.Text))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func numbers(values []int64) string {
	text := ""
	for _, v := range values {
		text += " " + strconv.FormatInt(v, 10)
	}
	return text
}

// addSaturated adds column by column and stays at the ends of int64, as hearth does.
func addSaturated(sum, values []int64) []int64 {
	if sum == nil {
		return values
	}
	for i, v := range values {
		switch s := sum[i]; {
		case v > 0 && s > math.MaxInt64-v:
			sum[i] = math.MaxInt64
		case v < 0 && s < math.MinInt64-v:
			sum[i] = math.MinInt64
		default:
			sum[i] = s + v
		}
	}
	return sum
}

// escape keeps a text on its line and inside its field: backslash, the
// separators, control characters and bytes that are not UTF-8 are written \xNN.
func escape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) || strings.ContainsRune(`\|;{}=`, r) {
			for _, c := range []byte(text[i : i+size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}
