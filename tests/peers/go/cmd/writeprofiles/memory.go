// SPDX-License-Identifier: Apache-2.0

// What the heap profiles show: memory that stays, memory that goes, and the
// same call site with different object sizes.
package main

type node struct {
	left, right *node
	payload     [64]byte
}

type kept struct {
	tree  *node
	table map[int][]byte
	slabs [][]byte
}

func allocateEverything() *kept {
	dropGarbage(2000)
	return &kept{tree: growTree(12), table: fillTable(400), slabs: makeSlabs()}
}

// growTree allocates by recursion, so that stacks of many depths share frames.
func growTree(depth int) *node {
	if depth == 0 {
		return nil
	}
	return &node{left: growTree(depth - 1), right: growTree(depth - 1)}
}

func fillTable(n int) map[int][]byte {
	table := map[int][]byte{}
	for i := range n {
		table[i] = make([]byte, 512)
	}
	return table
}

// makeSlabs allocates several sizes on one line: samples that differ only in
// their "bytes" label.
func makeSlabs() [][]byte {
	var slabs [][]byte
	for _, size := range []int{1 << 10, 8 << 10, 64 << 10, 1 << 20} {
		for range 4 {
			slabs = append(slabs, make([]byte, size))
		}
	}
	return slabs
}

// dropGarbage allocates what the next collection frees: in alloc_*, not in inuse_*.
func dropGarbage(n int) {
	for i := range n {
		garbage = make([]byte, 1024+i%7)
	}
	garbage = nil
}

var garbage []byte
