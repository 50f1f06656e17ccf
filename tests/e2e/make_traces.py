# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/e2e/traces.sh sends: 20 requests to a shop, as OTLP traces and as OTLP profiles with links to them.

    make_traces.py BASE_NS      the first request starts then, the others a second apart each

Request i (0 to 19) is trace 10+i. Its spans, all within the first milliseconds:
    01ii  shop  GET /cart   server    10 + i ms, attribute http.route=/cart, an event and a link
    02ii  shop  parse       internal   4 ms
    03ii  shop  POST /pay   client     3 ms
    04ii  pay   POST /pay   server     2 ms, failed in request 7
Samples of CPU time, by span: 01ii: main;serve;work 1 ms, and of request 19 main;serve;slow_path 5 ms; 02ii: main;serve;json_parse
2 ms; 04ii: main;charge 1 ms; none: main;idle 100 ms. Those of pay tell no trace, as span profiles do.

Traces 0 to 9 are in traces.json, 10 to 19 as protobuf in traces.pb; profiles are in profiles.json.
"""

import json
import sys

BASE = int(sys.argv[1])
MS = 1_000_000


def trace_id(i):
    return f"{0x10 + i:032x}"


def span_id(kind, i):
    return f"{kind:02x}{i:02x}".rjust(16, "0")


def attribute(key, value):
    return {"key": key, "value": {"stringValue": value}}


def span(i, kind, parent, name, otlp_kind, start_ms, length_ms, **more):
    start = BASE + i * 1_000_000_000 + start_ms * MS
    made = {
        "traceId": trace_id(i),
        "spanId": span_id(kind, i),
        "name": name,
        "kind": otlp_kind,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + length_ms * MS),
        **more,
    }
    if parent:
        made["parentSpanId"] = span_id(parent, i)
    return made


def spans_of(i):
    start = str(BASE + i * 1_000_000_000 + MS)
    root = span(
        i, 1, 0, "GET /cart", 2, 0, 10 + i,
        attributes=[
            attribute("http.route", "/cart"),
            {"key": "http.status_code", "value": {"intValue": "200"}},
            {"key": "ratio", "value": {"doubleValue": 0.5}},
            {"key": "is_new", "value": {"boolValue": True}},
        ],
        events=[{"timeUnixNano": start, "name": "begun", "attributes": [attribute("who", "me")]}],
        links=[{"traceId": "f" * 32, "spanId": "e" * 16}],
    )
    shop = [root, span(i, 2, 1, "parse", 1, 1, 4), span(i, 3, 1, "POST /pay", 3, 5, 3)]
    status = {"status": {"code": 2, "message": "card refused"}} if i == 7 else {}
    return shop, [span(i, 4, 3, "POST /pay", 2, 6, 2, **status)]


def resource_spans(service, spans):
    return {
        "resource": {"attributes": [attribute("service.name", service), attribute("region", f"eu-{service}")]},
        "scopeSpans": [{"scope": {"name": "tracer", "version": "1.2"}, "spans": spans}],
    }


def request(numbers):
    shop, pay = [], []
    for i in numbers:
        one, other = spans_of(i)
        shop += one
        pay += other
    return {"resourceSpans": [resource_spans("shop", shop), resource_spans("pay", pay)]}


# --- protobuf: a table of fields, by message ---


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


VALUE = {"stringValue": (1, "text"), "boolValue": (2, "int"), "intValue": (3, "int"), "doubleValue": (4, "double")}
KEY = {"key": (1, "text"), "value": (2, VALUE)}
SCHEMA = {
    "resourceSpans": (1, {
        "resource": (1, {"attributes": (1, KEY)}),
        "scopeSpans": (2, {
            "scope": (1, {"name": (1, "text"), "version": (2, "text")}),
            "spans": (2, {
                "traceId": (1, "hex"), "spanId": (2, "hex"), "parentSpanId": (4, "hex"), "name": (5, "text"),
                "kind": (6, "int"), "startTimeUnixNano": (7, "fixed"), "endTimeUnixNano": (8, "fixed"),
                "attributes": (9, KEY),
                "events": (11, {"timeUnixNano": (1, "fixed"), "name": (2, "text"), "attributes": (3, KEY)}),
                "links": (13, {"traceId": (1, "hex"), "spanId": (2, "hex")}),
                "status": (15, {"message": (2, "text"), "code": (3, "int")}),
            }),
        }),
    }),
}


def field(number, kind, value):
    import struct

    if kind == "int":
        return varint(number << 3) + varint(int(value))
    if kind == "fixed":
        return varint(number << 3 | 1) + int(value).to_bytes(8, "little")
    if kind == "double":
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(kind, dict):
        body = encode(value, kind)
    else:
        body = bytes.fromhex(value) if kind == "hex" else value.encode()
    return varint(number << 3 | 2) + varint(len(body)) + body


def encode(message, schema):
    out = b""
    for key, value in message.items():
        number, kind = schema[key]
        for item in value if isinstance(value, list) else [value]:
            out += field(number, kind, item)
    return out


# --- profiles ---

STRINGS = [""]
FUNCTIONS = [{}]
LOCATIONS = [{}]
STACKS = [{}]
LINKS = [{}]


def string(text):
    if text not in STRINGS:
        STRINGS.append(text)
    return STRINGS.index(text)


def location(name):
    made = {"nameStrindex": string(name)}
    if made not in FUNCTIONS:
        FUNCTIONS.append(made)
        LOCATIONS.append({"lines": [{"functionIndex": len(FUNCTIONS) - 1}]})
    return FUNCTIONS.index(made)


def sample(stack, value_ms, span=None, trace=None):
    made = {"locationIndices": [location(name) for name in reversed(stack.split(";"))]}
    if made not in STACKS:
        STACKS.append(made)
    one = {"stackIndex": STACKS.index(made), "values": [str(value_ms * MS)]}
    if span:
        LINKS.append({"traceId": trace or "0" * 32, "spanId": span})
        one["linkIndex"] = len(LINKS) - 1
    return one


def resource_profiles(service, samples):
    profile = {
        "sampleType": {"typeStrindex": string("cpu"), "unitStrindex": string("nanoseconds")},
        "periodType": {"typeStrindex": string("cpu"), "unitStrindex": string("nanoseconds")},
        "period": str(MS),
        "timeUnixNano": str(BASE),
        "durationNano": "30000000000",
        "samples": samples,
    }
    return {
        "resource": {"attributes": [attribute("service.name", service)]},
        "scopeProfiles": [{"profiles": [profile]}],
    }


def profiles():
    shop, pay = [sample("main;idle", 100)], []
    for i in range(20):
        shop.append(sample("main;serve;work", 1, span_id(1, i), trace_id(i)))
        shop.append(sample("main;serve;json_parse", 2, span_id(2, i), trace_id(i)))
        pay.append(sample("main;charge", 1, span_id(4, i)))
    shop.append(sample("main;serve;slow_path", 5, span_id(1, 19), trace_id(19)))
    resources = [resource_profiles("shop", shop), resource_profiles("pay", pay)]
    return {
        "resourceProfiles": resources,
        "dictionary": {
            "stringTable": STRINGS, "mappingTable": [{}], "functionTable": FUNCTIONS, "locationTable": LOCATIONS,
            "stackTable": STACKS, "attributeTable": [{}], "linkTable": LINKS,
        },
    }


with open("traces.json", "w", encoding="utf-8") as out:
    json.dump(request(range(10)), out)
with open("traces.pb", "wb") as out:
    out.write(encode(request(range(10, 20)), SCHEMA))
with open("profiles.json", "w", encoding="utf-8") as out:
    json.dump(profiles(), out)
