// SPDX-License-Identifier: Apache-2.0

// Comparing two dumps line by line.

package dump

import (
	"fmt"
	"io"
	"sort"
)

// Diff writes the first lines that only one side has ("- " left, "+ " right),
// at most `most` of them, and returns how many there are in all.
func Diff(w io.Writer, left, right []string, most int) int {
	a, b := sorted(left), sorted(right)
	found := 0
	report := func(mark, line string) {
		if found < most {
			fmt.Fprintln(w, mark, line)
		}
		found++
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			report("-", a[i])
			i++
		case i == len(a) || b[j] < a[i]:
			report("+", b[j])
			j++
		default:
			i++
			j++
		}
	}
	if found > most {
		fmt.Fprintf(w, "and %d more\n", found-most)
	}
	return found
}

// sorted copies the lines in order, each type line with its position: the
// order of sample types is part of the profile.
func sorted(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if len(line) > 5 && line[:5] == "type " {
			line = fmt.Sprintf("type %d: %s", i, line[5:])
		}
		out[i] = line
	}
	sort.Strings(out)
	return out
}
