// SPDX-License-Identifier: Apache-2.0

// What the mutex, block and goroutine profiles show: a contended lock, a slow
// channel, and goroutines parked under labels while the profile is taken.
package main

import (
	"context"
	"runtime/pprof"
	"sync"
	"time"
)

func contend() {
	var group sync.WaitGroup
	var lock sync.Mutex
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 20 {
				holdLock(&lock)
			}
		}()
	}
	slow := make(chan int)
	group.Add(1)
	go func() {
		defer group.Done()
		feedSlowly(slow)
	}()
	for range slow {
	}
	group.Wait()
}

func holdLock(lock *sync.Mutex) {
	lock.Lock()
	defer lock.Unlock()
	time.Sleep(time.Millisecond)
}

func feedSlowly(to chan<- int) {
	defer close(to)
	for i := range 20 {
		time.Sleep(2 * time.Millisecond)
		to <- i
	}
}

// parkGoroutines starts goroutines that wait, some alike and some labelled, and
// returns once all of them are parked; the returned function ends them.
func parkGoroutines() (release func()) {
	gate := make(chan struct{})
	var parked, ended sync.WaitGroup
	park := func(wait func(<-chan struct{})) {
		parked.Add(1)
		ended.Add(1)
		go func() {
			defer ended.Done()
			parked.Done()
			wait(gate)
		}()
	}
	for range 10 {
		park(waitPlainly)
	}
	for _, labels := range oddLabels {
		park(func(gate <-chan struct{}) {
			pprof.Do(context.Background(), labels, func(context.Context) { waitPlainly(gate) })
		})
	}
	park(func(gate <-chan struct{}) { waitDeep(gate, 90) })
	parked.Wait()
	return func() {
		close(gate)
		ended.Wait()
	}
}

func waitPlainly(gate <-chan struct{}) { <-gate }

// waitDeep parks at the end of a deep recursion.
func waitDeep(gate <-chan struct{}, depth int) {
	if depth > 0 {
		waitDeep(gate, depth-1)
		return
	}
	<-gate
}
