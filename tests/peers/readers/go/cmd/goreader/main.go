// SPDX-License-Identifier: Apache-2.0

// Goreader asks a server what Grafana's data source and profilecli ask, with the client that both use, by Connect, gRPC and
// gRPC-Web, as protobuf and as JSON. It prints one line for each answer, which must be the same for every protocol.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	profilev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
	versionv1 "github.com/grafana/pyroscope/api/gen/proto/go/version/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/version/v1/versionv1connect"
	"golang.org/x/net/http2"
)

const cpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

type reader struct {
	client     querierv1connect.QuerierServiceClient
	selector   string
	start, end int64
	span       string
	out        strings.Builder
}

func (r *reader) say(what string, err error, format string, args ...any) {
	if err != nil {
		var failure *connect.Error
		if errors.As(err, &failure) {
			fmt.Fprintf(&r.out, "%s: %s\n", what, failure.Code())
		} else {
			fmt.Fprintf(&r.out, "%s: %v\n", what, err)
		}
		return
	}
	fmt.Fprintf(&r.out, "%s: %s\n", what, fmt.Sprintf(format, args...))
}

// Checks that every child lies within its parent, as Grafana needs it, and adds up what is each function's own.
func flame(graph *querierv1.FlameGraph) string {
	if graph == nil {
		return "none"
	}
	type span struct{ from, to int64 }
	own := map[string]int64{}
	parents := []span{{0, graph.Total}}
	for depth, level := range graph.Levels {
		var here []span
		var x int64
		for i := 0; i+3 < len(level.Values); i += 4 {
			from := x + level.Values[i]
			to := from + level.Values[i+1]
			x = to
			inside := false
			for _, parent := range parents {
				inside = inside || (from >= parent.from && to <= parent.to)
			}
			if !inside {
				return fmt.Sprintf("a node of level %d is outside its parent", depth)
			}
			here = append(here, span{from, to})
			own[graph.Names[level.Values[i+3]]] += level.Values[i+2]
		}
		parents = here
	}
	return fmt.Sprintf("total %d root %s own %s", graph.Total, graph.Names[0], sums(own))
}

func sums(of map[string]int64) string {
	var texts []string
	for name, value := range of {
		if value != 0 {
			texts = append(texts, name+"="+strconv.FormatInt(value, 10))
		}
	}
	sort.Strings(texts)
	return strings.Join(texts, " ")
}

func leaves(profile *profilev1.Profile) string {
	own := map[string]int64{}
	for _, sample := range profile.Sample {
		name := "?"
		for _, location := range profile.Location {
			if location.Id == sample.LocationId[0] {
				for _, function := range profile.Function {
					if function.Id == location.Line[0].FunctionId {
						name = profile.StringTable[function.Name]
					}
				}
			}
		}
		own[name] += sample.Value[0]
	}
	return sums(own)
}

func (r *reader) stacktraces() *querierv1.SelectMergeStacktracesRequest {
	return &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: cpu, LabelSelector: r.selector, Start: r.start, End: r.end}
}

func (r *reader) names(ctx context.Context) {
	health, err := r.client.ProfileTypes(ctx, connect.NewRequest(&querierv1.ProfileTypesRequest{Start: 1000, End: 4000}))
	r.say("health", err, "%d types", len(msg(health).GetProfileTypes()))
	types, err := r.client.ProfileTypes(ctx, connect.NewRequest(&querierv1.ProfileTypesRequest{Start: r.start, End: r.end}))
	var ids []string
	for _, t := range msg(types).GetProfileTypes() {
		ids = append(ids, t.ID)
	}
	r.say("types", err, "%s", strings.Join(ids, " "))
	labels, err := r.client.LabelNames(ctx, connect.NewRequest(&typesv1.LabelNamesRequest{Matchers: []string{r.selector}, Start: r.start, End: r.end}))
	r.say("labels", err, "%s", strings.Join(msg(labels).GetNames(), " "))
	values, err := r.client.LabelValues(ctx, connect.NewRequest(&typesv1.LabelValuesRequest{Name: "service_name", Matchers: []string{"{}"}, Start: r.start, End: r.end}))
	r.say("services", err, "%s", strings.Join(msg(values).GetNames(), " "))
	series, err := r.client.Series(ctx, connect.NewRequest(&querierv1.SeriesRequest{LabelNames: []string{"service_name", "__profile_type__"}, Start: r.start, End: r.end}))
	var sets []string
	for _, set := range msg(series).GetLabelsSet() {
		var pairs []string
		for _, pair := range set.Labels {
			pairs = append(pairs, pair.Name+"="+pair.Value)
		}
		sets = append(sets, strings.Join(pairs, ","))
	}
	r.say("series", err, "%s", strings.Join(sets, " "))
	stats, err := r.client.GetProfileStats(ctx, connect.NewRequest(&typesv1.GetProfileStatsRequest{}))
	r.say("stats", err, "%v", msg(stats).GetDataIngested())
}

func msg[T any](response *connect.Response[T]) *T {
	if response == nil {
		return new(T)
	}
	return response.Msg
}

func (r *reader) graphs(ctx context.Context) {
	graph, err := r.client.SelectMergeStacktraces(ctx, connect.NewRequest(r.stacktraces()))
	r.say("flame graph", err, "%s", flame(msg(graph).GetFlamegraph()))
	few := r.stacktraces()
	nodes := int64(2)
	few.MaxNodes = &nodes
	graph, err = r.client.SelectMergeStacktraces(ctx, connect.NewRequest(few))
	r.say("few nodes", err, "%s", flame(msg(graph).GetFlamegraph()))
	profile, err := r.client.SelectMergeProfile(ctx, connect.NewRequest(&querierv1.SelectMergeProfileRequest{ProfileTypeID: cpu, LabelSelector: r.selector, Start: r.start, End: r.end}))
	r.say("profile", err, "%s", leaves(msg(profile)))
	span, err := r.client.SelectMergeSpanProfile(ctx, connect.NewRequest(&querierv1.SelectMergeSpanProfileRequest{ProfileTypeID: cpu, LabelSelector: r.selector, Start: r.start, End: r.end, SpanSelector: []string{r.span}}))
	r.say("span", err, "%s", flame(msg(span).GetFlamegraph()))
	diff, err := r.client.Diff(ctx, connect.NewRequest(&querierv1.DiffRequest{Left: r.stacktraces(), Right: r.stacktraces()}))
	r.say("diff", err, "left %d right %d total %d", msg(diff).GetFlamegraph().GetLeftTicks(), msg(diff).GetFlamegraph().GetRightTicks(), msg(diff).GetFlamegraph().GetTotal())
}

func (r *reader) overTime(ctx context.Context) {
	series, err := r.client.SelectSeries(ctx, connect.NewRequest(&querierv1.SelectSeriesRequest{ProfileTypeID: cpu, LabelSelector: r.selector, Start: r.start, End: r.end, GroupBy: []string{"service_name"}, Step: 15}))
	var texts []string
	for _, one := range msg(series).GetSeries() {
		var sum float64
		for _, point := range one.Points {
			sum += point.Value
		}
		texts = append(texts, fmt.Sprintf("%s %.0f", one.Labels[0].Value, sum))
	}
	r.say("points", err, "%s", strings.Join(texts, " "))
	heat, err := r.client.SelectHeatmap(ctx, connect.NewRequest(&querierv1.SelectHeatmapRequest{ProfileTypeID: cpu, LabelSelector: r.selector, Start: r.start, End: r.end, Step: 15, QueryType: querierv1.HeatmapQueryType_HEATMAP_QUERY_TYPE_INDIVIDUAL, ExemplarType: typesv1.ExemplarType_EXEMPLAR_TYPE_NONE}))
	var profiles int32
	for _, one := range msg(heat).GetSeries() {
		for _, slot := range one.Slots {
			for _, count := range slot.Counts {
				profiles += count
			}
		}
	}
	r.say("heatmap", err, "%d profiles", profiles)
}

func (r *reader) mistakes(ctx context.Context) {
	_, err := r.client.SelectMergeStacktraces(ctx, connect.NewRequest(&querierv1.SelectMergeStacktracesRequest{ProfileTypeID: cpu, LabelSelector: r.selector}))
	r.say("no range", err, "accepted")
	_, err = r.client.SelectMergeStacktraces(ctx, connect.NewRequest(&querierv1.SelectMergeStacktracesRequest{ProfileTypeID: "cpu", LabelSelector: r.selector, Start: r.start, End: r.end}))
	r.say("no type", err, "accepted")
	_, err = r.client.SelectSeries(ctx, connect.NewRequest(&querierv1.SelectSeriesRequest{ProfileTypeID: cpu, LabelSelector: "{oh", Start: r.start, End: r.end, Step: 15}))
	r.say("bad selector", err, "accepted")
	_, err = r.client.LabelNames(ctx, connect.NewRequest(&typesv1.LabelNamesRequest{Start: r.end, End: r.start}))
	r.say("end before start", err, "accepted")
}

// h2c is what gRPC needs without TLS.
func h2c() *http.Client {
	return &http.Client{Transport: &http2.Transport{AllowHTTP: true,
		DialTLSContext: func(ctx context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}}}
}

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: goreader URL SELECTOR START_MS END_MS SPAN")
		os.Exit(2)
	}
	start, _ := strconv.ParseInt(os.Args[3], 10, 64)
	end, _ := strconv.ParseInt(os.Args[4], 10, 64)
	protocols := []struct {
		name    string
		client  *http.Client
		options []connect.ClientOption
	}{
		{"connect", http.DefaultClient, nil},
		{"connect-json", http.DefaultClient, []connect.ClientOption{connect.WithProtoJSON()}},
		{"connect-h2", h2c(), []connect.ClientOption{connect.WithSendGzip()}},
		{"grpc", h2c(), []connect.ClientOption{connect.WithGRPC()}},
		{"grpc-http1", http.DefaultClient, []connect.ClientOption{connect.WithGRPC()}}, // as profilecli does
		{"grpc-web", http.DefaultClient, []connect.ClientOption{connect.WithGRPCWeb()}},
	}
	first := ""
	for _, protocol := range protocols {
		ctx := context.Background()
		r := &reader{client: querierv1connect.NewQuerierServiceClient(protocol.client, os.Args[1], protocol.options...), selector: os.Args[2], start: start, end: end, span: os.Args[5]}
		r.names(ctx)
		r.graphs(ctx)
		r.overTime(ctx)
		r.mistakes(ctx)
		version, err := versionv1connect.NewVersionClient(protocol.client, os.Args[1], protocol.options...).Version(ctx, connect.NewRequest(&versionv1.VersionRequest{}))
		r.say("version", err, "%d", msg(version).GetQuerierAPI())
		if first == "" {
			first = r.out.String()
			fmt.Print(first)
		} else if r.out.String() != first {
			fmt.Printf("%s answers otherwise:\n%s", protocol.name, r.out.String())
			os.Exit(1)
		} else {
			fmt.Printf("%s: the same\n", protocol.name)
		}
	}
}
