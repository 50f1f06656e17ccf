// SPDX-License-Identifier: Apache-2.0

// Where the CPU time goes: recursion, generics, closures, method values,
// interface calls, inlined leaves, and the same work under different labels.
package main

import (
	"context"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

// sink keeps the compiler from removing the work.
var sink uint64

// oddLabels are the label sets that readers trip over; each gets its own goroutine.
var oddLabels = []pprof.LabelSet{
	pprof.Labels("route", "/checkout", "operation", "pay"),
	pprof.Labels("key with spaces", "value with spaces"),
	pprof.Labels("dotted.key.name", "v1.2.3"),
	pprof.Labels("ключ", "значение ☃", "emoji🔥", "🪵"),
	pprof.Labels("empty value", ""),
	pprof.Labels("", "empty key"),
	pprof.Labels("long", strings.Repeat("x", 3000)),
	pprof.Labels("quote\"back\\slash", "line\nbreak;semi|pipe{brace}=equals,comma"),
	pprof.Labels("not utf-8", "\xff\xfe"),
}

// burnUntil splits the time between plain work, labelled goroutines and a
// goroutine that nests labels so that an inner value replaces an outer one.
func burnUntil(end time.Time) {
	var group sync.WaitGroup
	for i, labels := range oddLabels {
		group.Add(1)
		go pprof.Do(context.Background(), labels, func(context.Context) {
			defer group.Done()
			spin(end, work[i%len(work)])
		})
	}
	group.Add(1)
	go func() {
		defer group.Done()
		nestedLabels(end)
	}()
	spin(end, fibonacciWork)
	group.Wait()
}

func nestedLabels(end time.Time) {
	outer := pprof.Labels("route", "/outer", "only outer", "1")
	pprof.Do(context.Background(), outer, func(ctx context.Context) {
		half := time.Now().Add(time.Until(end) / 2)
		pprof.Do(ctx, pprof.Labels("route", "/inner"), func(context.Context) { spin(half, sortWork) })
		spin(end, closureWork)
	})
}

var work = []func(){fibonacciWork, sortWork, closureWork, methodWork, shapesWork}

func spin(end time.Time, step func()) {
	for time.Now().Before(end) {
		step()
	}
}

func fibonacciWork() { sink += fibonacci(21) }

// fibonacci is direct recursion: one function many times in a stack.
func fibonacci(n uint64) uint64 {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func sortWork() {
	sink += uint64(insertionSort(scrambled[int32](300))[0])
	sink += uint64(insertionSort(scrambled[float64](300))[0])
}

type number interface{ ~int32 | ~float64 }

func scrambled[T number](n int) []T {
	out := make([]T, n)
	seed := uint32(1)
	for i := range out {
		seed = nextRandom(seed)
		out[i] = T(seed % 1000)
	}
	return out
}

// nextRandom is a leaf that the compiler inlines.
func nextRandom(seed uint32) uint32 { return mix(seed ^ 0x9e3779b9) }

// mix is inlined into nextRandom, which is inlined into its callers.
func mix(x uint32) uint32 {
	x ^= x << 13
	x ^= x >> 17
	return x ^ x<<5
}

// insertionSort is generic: one name per shape in the symbol table.
func insertionSort[T number](list []T) []T {
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

func closureWork() {
	total := uint32(1)
	add := func(rounds int) {
		for range rounds {
			total = nextRandom(total)
		}
	}
	for range 50 {
		add(200)
	}
	sink += uint64(total)
}

type counter struct{ value uint32 }

func (c *counter) turn(rounds int) {
	for range rounds {
		c.value = nextRandom(c.value)
	}
}

func methodWork() {
	c := &counter{value: 7}
	turn := c.turn // a method value: the profile shows counter.turn-fm or its inlined body
	for range 50 {
		turn(200)
	}
	sink += uint64(c.value)
}

type shape interface{ area(rounds int) uint32 }
type square struct{ side uint32 }
type disc struct{ radius uint32 }

//go:noinline
func (s square) area(rounds int) uint32 {
	sum := s.side
	for range rounds {
		sum = nextRandom(sum)
	}
	return sum
}

//go:noinline
func (d *disc) area(rounds int) uint32 {
	sum := d.radius
	for range rounds {
		sum = mix(sum + d.radius)
	}
	return sum
}

func shapesWork() {
	for _, s := range []shape{square{3}, &disc{4}} {
		sink += uint64(s.area(5000))
	}
}
