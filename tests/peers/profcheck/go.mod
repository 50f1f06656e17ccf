// The OpenTelemetry profiling SIG's own checker of OTLP profiles.
//
// A module of its own, because the checksum database does not know this version: its hash in go.sum is pinned by us,
// after its files were compared with the public commit that the version names (2addcd15bcf9). With an entry in go.sum,
// Go asks the database no more.
module hearth.dev/peers/profcheck

go 1.25.0

tool github.com/open-telemetry/sig-profiling/profcheck/cmd/profcheck

require (
	github.com/open-telemetry/sig-profiling/profcheck v0.0.0-20260416173450-2addcd15bcf9 // indirect
	go.opentelemetry.io/proto/otlp v1.10.0 // indirect
	go.opentelemetry.io/proto/otlp/profiles/v1development v0.3.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
