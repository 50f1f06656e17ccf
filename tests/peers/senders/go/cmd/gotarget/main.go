// SPDX-License-Identifier: Apache-2.0

// A program with known hot spots that serves its profiles at /debug/pprof, as Go programs do, and those of godeltaprof:
//
//	gotarget SECONDS
//
// prints the address that it listens on and works for so many seconds.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	_ "github.com/grafana/pyroscope-go/godeltaprof/http/pprof"
)

var sink [][]byte

//go:noinline
func spinForTarget(until time.Time) int {
	n := 0
	for time.Now().Before(until) {
		for i := 0; i < 1000000; i++ {
			n += i % 7
		}
	}
	return n
}

//go:noinline
func allocateForTarget() {
	for i := 0; i < 64; i++ {
		sink = append(sink, make([]byte, 64<<10))
	}
	if len(sink) > 512 {
		sink = nil
	}
}

func lockForTarget(mutex *sync.Mutex) {
	for {
		mutex.Lock()
		time.Sleep(2 * time.Millisecond)
		mutex.Unlock()
	}
}

func main() {
	seconds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotarget SECONDS")
		os.Exit(2)
	}
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1000)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go http.Serve(listener, nil)
	var mutex sync.Mutex
	for i := 0; i < 3; i++ {
		go lockForTarget(&mutex)
	}
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	for time.Now().Before(until) {
		spinForTarget(time.Now().Add(100 * time.Millisecond))
		allocateForTarget()
	}
}
