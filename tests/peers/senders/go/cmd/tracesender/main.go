// SPDX-License-Identifier: Apache-2.0

// A service with two operations that sends its traces with the OpenTelemetry SDK, by gRPC, and its profiles with the official
// Pyroscope SDK; otel-profiling-go marks the samples with the spans that they were taken in:
//
//	tracesender HOST:PORT URL ROUNDS root|all
//
// "root" marks samples with the id of the local root span, which is the default of that package, "all" with that of the span
// at hand. The service is called go-root or go-all. Operation alpha burns in burnAlpha, and in prepareAlpha within a span of
// its own; beta burns in burnBeta. Each span that was ended is printed: OPERATION TRACE_ID SPAN_ID.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	otelpyroscope "github.com/grafana/otel-profiling-go"
	"github.com/grafana/pyroscope-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const burnTime = 300 * time.Millisecond

//go:noinline
func burnAlpha(until time.Time) int { return spin(until) }

//go:noinline
func prepareAlpha(until time.Time) int { return spin(until) }

//go:noinline
func burnBeta(until time.Time) int { return spin(until) }

func spin(until time.Time) int {
	n := 0
	for time.Now().Before(until) {
		for i := 0; i < 100000; i++ {
			n += i % 7
		}
	}
	return n
}

func tell(span trace.Span, operation string) {
	context := span.SpanContext()
	fmt.Println(operation, context.TraceID(), context.SpanID())
}

func alpha(tracer trace.Tracer) {
	ctx, span := tracer.Start(context.Background(), "alpha", trace.WithSpanKind(trace.SpanKindServer))
	_, inner := tracer.Start(ctx, "prepare alpha")
	prepareAlpha(time.Now().Add(burnTime))
	inner.End()
	tell(inner, "prepare")
	burnAlpha(time.Now().Add(burnTime))
	span.End()
	tell(span, "alpha")
}

func beta(tracer trace.Tracer) {
	_, span := tracer.Start(context.Background(), "beta", trace.WithSpanKind(trace.SpanKindServer))
	burnBeta(time.Now().Add(burnTime))
	span.End()
	tell(span, "beta")
}

func send(address, url string, rounds int, scope string) error {
	service := "go-" + scope
	exporter, err := otlptracegrpc.New(context.Background(), otlptracegrpc.WithEndpoint(address), otlptracegrpc.WithInsecure())
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", service))))
	profiler, err := pyroscope.Start(pyroscope.Config{
		ApplicationName: service,
		ServerAddress:   url,
		UploadRate:      5 * time.Second,
		ProfileTypes:    []pyroscope.ProfileType{pyroscope.ProfileCPU},
	})
	if err != nil {
		return err
	}
	var options []otelpyroscope.Option
	if scope == "all" {
		options = append(options, otelpyroscope.WithSpanIDLabelScope(otelpyroscope.ScopeAllSpans))
	}
	tracer := otelpyroscope.NewTracerProvider(provider, options...).Tracer("tracesender")
	for i := 0; i < rounds; i++ {
		alpha(tracer)
		beta(tracer)
	}
	if err := profiler.Stop(); err != nil {
		return err
	}
	return provider.Shutdown(context.Background())
}

func main() {
	if len(os.Args) != 5 || (os.Args[4] != "root" && os.Args[4] != "all") {
		fmt.Fprintln(os.Stderr, "tracesender HOST:PORT URL ROUNDS root|all")
		os.Exit(2)
	}
	rounds, err := strconv.Atoi(os.Args[3])
	if err == nil {
		err = send(os.Args[1], os.Args[2], rounds, os.Args[4])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
