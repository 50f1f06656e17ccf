# SPDX-License-Identifier: Apache-2.0
"""A service with two operations that sends its traces and metrics with the OpenTelemetry SDK, by HTTP, and its profiles with
the official Pyroscope SDK; pyroscope-otel marks the samples with the root spans that they were taken in:

    tracesender.py OTLP_URL URL ROUNDS

Operation alpha burns in burn_alpha, and in prepare_alpha within a span of its own; beta burns in burn_beta. Each span that was
ended is printed: OPERATION TRACE_ID SPAN_ID. Metrics are one that is kept and one that is not.
"""
import sys
import time

import pyroscope
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind
from pyroscope.otel import PyroscopeSpanProcessor

BURN_SECONDS = 0.4
# Samples are taken and marked one after the other: what was taken at the end of a span may get the mark of the next one,
# unless there is nothing to be taken in between.
REST_SECONDS = 0.1
SERVICE = "py-root"


def spin(until):
    n = 0
    while time.time() < until:
        for i in range(5000):
            n += i % 7
    return n


def burn_alpha():
    return spin(time.time() + BURN_SECONDS)


def prepare_alpha():
    return spin(time.time() + BURN_SECONDS)


def burn_beta():
    return spin(time.time() + BURN_SECONDS)


def tell(span, operation):
    context = span.get_span_context()
    print(operation, format(context.trace_id, "032x"), format(context.span_id, "016x"), flush=True)


def alpha(tracer):
    with tracer.start_as_current_span("alpha", kind=SpanKind.SERVER) as span:
        with tracer.start_as_current_span("prepare alpha") as inner:
            prepare_alpha()
        tell(inner, "prepare")
        burn_alpha()
        time.sleep(REST_SECONDS)
    tell(span, "alpha")


def beta(tracer):
    with tracer.start_as_current_span("beta", kind=SpanKind.SERVER) as span:
        burn_beta()
        time.sleep(REST_SECONDS)
    tell(span, "beta")


def main(otlp, url, rounds):
    resource = Resource.create({"service.name": SERVICE})
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=otlp + "/v1/metrics"), export_interval_millis=1000)
    meters = MeterProvider(resource=resource, metric_readers=[reader])
    meter = meters.get_meter("tracesender")
    meter.create_observable_gauge("runtime.memory.heap_alloc_bytes", callbacks=[lambda _: [Observation(64 << 20)]], unit="By")
    requests = meter.create_counter("http.server.requests")

    traces = TracerProvider(resource=resource)
    traces.add_span_processor(PyroscopeSpanProcessor())
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=otlp + "/v1/traces")))
    tracer = traces.get_tracer("tracesender")

    pyroscope.configure(application_name=SERVICE, server_address=url, sample_rate=100)
    for _ in range(rounds):
        alpha(tracer)
        beta(tracer)
        requests.add(2)
    pyroscope.shutdown()
    traces.shutdown()
    meters.shutdown()


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
