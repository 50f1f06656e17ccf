// SPDX-License-Identifier: Apache-2.0

// Sends profiles as the OpenTelemetry Collector's exporters do, with the collector's own encoder:
//
//	otlpsender grpc HOST:PORT COUNT [SERVICE]
//	otlpsender http URL COUNT [SERVICE]
//	otlpsender json URL COUNT [SERVICE]
//
// Each request has ten profiles of one sample of 10 ms each (as an eBPF profiler sends them) for the service, "otlp-KIND"
// unless named. Instead of HOST:PORT, gRPC also takes unix:PATH. What the server answers is printed: "ok N" with the
// number of requests, or the error.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	grpcgzip "google.golang.org/grpc/encoding/gzip"
)

func text(dictionary pprofile.ProfilesDictionary, s string) int32 {
	table := dictionary.StringTable()
	for i := 0; i < table.Len(); i++ {
		if table.At(i) == s {
			return int32(i)
		}
	}
	table.Append(s)
	return int32(table.Len() - 1)
}

func request(service string, now time.Time) pprofileotlp.ExportRequest {
	profiles := pprofile.NewProfiles()
	dictionary := profiles.Dictionary()
	dictionary.StringTable().Append("")
	dictionary.MappingTable().AppendEmpty()
	dictionary.LocationTable().AppendEmpty()
	dictionary.FunctionTable().AppendEmpty()
	dictionary.LinkTable().AppendEmpty()
	dictionary.AttributeTable().AppendEmpty()
	dictionary.StackTable().AppendEmpty()
	for _, name := range []string{"leafWork", "middle", "root"} {
		function := dictionary.FunctionTable().AppendEmpty()
		function.SetNameStrindex(text(dictionary, name))
		location := dictionary.LocationTable().AppendEmpty()
		location.Lines().AppendEmpty().SetFunctionIndex(int32(dictionary.FunctionTable().Len() - 1))
	}
	dictionary.StackTable().AppendEmpty().LocationIndices().FromRaw([]int32{1, 2, 3})
	link := dictionary.LinkTable().AppendEmpty()
	link.SetTraceID(pcommon.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	link.SetSpanID(pcommon.SpanID{1, 2, 3, 4, 5, 6, 7, 8})

	resource := profiles.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", service)
	resource.Resource().Attributes().PutStr("deployment.environment.name", "test")
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName("otlpsender")
	for i := 0; i < 10; i++ {
		profile := scope.Profiles().AppendEmpty()
		profile.SampleType().SetTypeStrindex(text(dictionary, "samples"))
		profile.SampleType().SetUnitStrindex(text(dictionary, "count"))
		profile.PeriodType().SetTypeStrindex(text(dictionary, "cpu"))
		profile.PeriodType().SetUnitStrindex(text(dictionary, "nanoseconds"))
		profile.SetPeriod(10000000)
		profile.SetTime(pcommon.NewTimestampFromTime(now))
		profile.SetDurationNano(uint64(time.Second))
		sample := profile.Samples().AppendEmpty()
		sample.SetStackIndex(1)
		sample.SetLinkIndex(1)
		sample.TimestampsUnixNano().FromRaw([]uint64{uint64(now.UnixNano()) + uint64(i)})
	}
	return pprofileotlp.NewExportRequestFromProfiles(profiles)
}

func byGRPC(to string, count int, service string) error {
	connection, err := grpc.NewClient(to, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	client := pprofileotlp.NewGRPCClient(connection)
	for i := 0; i < count; i++ {
		response, err := client.Export(context.Background(), request(service, time.Now()), grpc.UseCompressor(grpcgzip.Name))
		if err != nil {
			return err
		}
		if response.PartialSuccess().RejectedProfiles() != 0 {
			return fmt.Errorf("rejected: %s", response.PartialSuccess().ErrorMessage())
		}
	}
	return nil
}

func byHTTP(url, kind string, count int, service string) error {
	for i := 0; i < count; i++ {
		var body []byte
		var err error
		contentType := "application/x-protobuf"
		if kind == "json" {
			contentType = "application/json"
			body, err = request(service, time.Now()).MarshalJSON()
		} else {
			body, err = request(service, time.Now()).MarshalProto()
		}
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		writer.Write(body)
		writer.Close()
		post, err := http.NewRequest("POST", url+"/v1development/profiles", &packed)
		if err != nil {
			return err
		}
		post.Header.Set("Content-Type", contentType)
		post.Header.Set("Content-Encoding", "gzip")
		answer, err := http.DefaultClient.Do(post)
		if err != nil {
			return err
		}
		content, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		response := pprofileotlp.NewExportResponse()
		if kind == "json" {
			err = response.UnmarshalJSON(content)
		} else {
			err = response.UnmarshalProto(content)
		}
		if answer.StatusCode != 200 || err != nil || response.PartialSuccess().RejectedProfiles() != 0 {
			return fmt.Errorf("status %d, %v: %s", answer.StatusCode, err, content)
		}
	}
	return nil
}

func main() {
	count, err := strconv.Atoi(os.Args[3])
	if err == nil {
		service := "otlp-" + os.Args[1]
		if len(os.Args) > 4 {
			service = os.Args[4]
		}
		if os.Args[1] == "grpc" {
			err = byGRPC(os.Args[2], count, service)
		} else {
			err = byHTTP(os.Args[2], os.Args[1], count, service)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok", count)
}
