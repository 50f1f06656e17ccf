// SPDX-License-Identifier: Apache-2.0

// A program with known hot spots that sends its profiles with the official Pyroscope SDK:
//
//	gosender URL SECONDS TENANT
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/grafana/pyroscope-go"
)

var sink [][]byte

//go:noinline
func hotSpin(until time.Time) int {
	n := 0
	for time.Now().Before(until) {
		for i := 0; i < 1000000; i++ {
			n += i % 7
		}
	}
	return n
}

//go:noinline
func allocateMuch() {
	for i := 0; i < 64; i++ {
		sink = append(sink, make([]byte, 64<<10))
	}
	if len(sink) > 512 {
		sink = nil
	}
}

//go:noinline
func contendLock(mutex *sync.Mutex, done chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
			mutex.Lock()
			time.Sleep(2 * time.Millisecond)
			mutex.Unlock()
		}
	}
}

func main() {
	seconds, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gosender URL SECONDS TENANT")
		os.Exit(2)
	}
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1000)
	profiler, err := pyroscope.Start(pyroscope.Config{
		ApplicationName: "go-sender",
		ServerAddress:   os.Args[1],
		TenantID:        os.Args[3],
		Logger:          pyroscope.StandardLogger,
		UploadRate:      5 * time.Second,
		Tags:            map[string]string{"region": "eu-1"},
		ProfileTypes: []pyroscope.ProfileType{
			pyroscope.ProfileCPU,
			pyroscope.ProfileAllocObjects, pyroscope.ProfileAllocSpace,
			pyroscope.ProfileInuseObjects, pyroscope.ProfileInuseSpace,
			pyroscope.ProfileGoroutines,
			pyroscope.ProfileMutexCount, pyroscope.ProfileMutexDuration,
			pyroscope.ProfileBlockCount, pyroscope.ProfileBlockDuration,
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mutex sync.Mutex
	done := make(chan struct{})
	for i := 0; i < 4; i++ {
		go contendLock(&mutex, done)
	}
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	for time.Now().Before(until) {
		pyroscope.TagWrapper(context.Background(), pyroscope.Labels("handler", "/checkout"), func(context.Context) {
			hotSpin(time.Now().Add(200 * time.Millisecond))
		})
		allocateMuch()
	}
	close(done)
	if err := profiler.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
