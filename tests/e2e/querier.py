#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speaks querier.v1 by Connect (JSON and protobuf) and gRPC-Web, with nothing but the standard library.

    querier.py ask URL PROCEDURE JSON [json|proto|grpc-web]   prints the status and the answer as JSON
    querier.py table URL START END TYPE                       every procedure with good and bad requests: prints what is wrong
    querier.py frame PROCEDURE JSON                           writes the request as a gRPC frame

Answers in protobuf are decoded by the tables below into what their JSON would be, so that the two can be compared."""

import base64
import gzip
import json
import struct
import sys
import urllib.error
import urllib.request

# number: (name in JSON, kind); kinds are types, messages of this table, and [kind] for lists.
SELECT = {1: ("profileTypeID", "text"), 2: ("labelSelector", "text"), 3: ("start", "int64"), 4: ("end", "int64")}
MERGE = {
    **SELECT,
    5: ("maxNodes", "int64"),
    6: ("format", "enum"),
    7: ("stackTraceSelector", "StackTraceSelector"),
    8: ("profileIdSelector", ["text"]),
    9: ("async", "Async"),
    10: ("traceIdSelector", ["text"]),
    11: ("spanSelector", ["text"]),
}
VALUE_TYPE = {1: ("type", "int64"), 2: ("unit", "int64")}
GRAPH = {1: ("names", ["text"]), 2: ("levels", ["Level"]), 3: ("total", "int64"), 4: ("maxSelf", "int64")}
MESSAGES = {
    "ProfileTypesRequest": {1: ("start", "int64"), 2: ("end", "int64")},
    "LabelValuesRequest": {1: ("name", "text"), 2: ("matchers", ["text"]), 3: ("start", "int64"), 4: ("end", "int64")},
    "LabelNamesRequest": {1: ("matchers", ["text"]), 2: ("start", "int64"), 3: ("end", "int64")},
    "SeriesRequest": {
        1: ("matchers", ["text"]),
        2: ("labelNames", ["text"]),
        3: ("start", "int64"),
        4: ("end", "int64"),
    },
    "SelectMergeStacktracesRequest": MERGE,
    "SelectMergeSpanProfileRequest": {
        1: SELECT[1],
        2: SELECT[2],
        3: ("spanSelector", ["text"]),
        4: ("start", "int64"),
        5: ("end", "int64"),
        6: ("maxNodes", "int64"),
        7: ("format", "enum"),
    },
    "SelectMergeProfileRequest": {
        **SELECT,
        5: ("maxNodes", "int64"),
        6: ("stackTraceSelector", "StackTraceSelector"),
        7: ("profileIdSelector", ["text"]),
        8: ("traceIdSelector", ["text"]),
    },
    "SelectSeriesRequest": {
        **SELECT,
        5: ("groupBy", ["text"]),
        6: ("step", "double"),
        8: ("stackTraceSelector", "StackTraceSelector"),
        9: ("limit", "int64"),
        10: ("exemplarType", "enum"),
    },
    "SelectHeatmapRequest": {
        **SELECT,
        5: ("step", "double"),
        6: ("groupBy", ["text"]),
        7: ("queryType", "enum"),
        8: ("exemplarType", "enum"),
        9: ("limit", "int64"),
    },
    "DiffRequest": {1: ("left", "SelectMergeStacktracesRequest"), 2: ("right", "SelectMergeStacktracesRequest")},
    "GetProfileStatsRequest": {},
    "AnalyzeQueryRequest": {2: ("start", "int64"), 3: ("end", "int64"), 4: ("query", "text")},
    "StackTraceSelector": {1: ("callSite", ["Location"]), 2: ("goPgo", "GoPgo")},
    "GoPgo": {1: ("keepLocations", "int64")},
    "Location": {1: ("name", "text")},
    "Async": {1: ("requestId", "text"), 2: ("type", "enum")},
    "ProfileTypesResponse": {1: ("profileTypes", ["ProfileType"])},
    "ProfileType": {
        1: ("ID", "text"),
        2: ("name", "text"),
        4: ("sampleType", "text"),
        5: ("sampleUnit", "text"),
        6: ("periodType", "text"),
        7: ("periodUnit", "text"),
    },
    "LabelValuesResponse": {1: ("names", ["text"])},
    "LabelNamesResponse": {1: ("names", ["text"])},
    "SeriesResponse": {2: ("labelsSet", ["Labels"])},
    "Labels": {1: ("labels", ["LabelPair"])},
    "LabelPair": {1: ("name", "text"), 2: ("value", "text")},
    "SelectMergeStacktracesResponse": {
        1: ("flamegraph", "FlameGraph"),
        2: ("tree", "bytes"),
        3: ("dot", "text"),
        5: ("pprof", "Pprof"),
    },
    "Pprof": {1: ("profile", "SelectMergeProfileResponse")},
    "SelectMergeSpanProfileResponse": {1: ("flamegraph", "FlameGraph"), 2: ("tree", "bytes")},
    "FlameGraph": GRAPH,
    "Level": {1: ("values", ["int64"])},
    "DiffResponse": {1: ("flamegraph", "FlameGraphDiff")},
    "FlameGraphDiff": {**GRAPH, 5: ("leftTicks", "int64"), 6: ("rightTicks", "int64")},
    "SelectSeriesResponse": {1: ("series", ["OneSeries"])},
    "OneSeries": {1: ("labels", ["LabelPair"]), 2: ("points", ["Point"])},
    "Point": {1: ("value", "double"), 2: ("timestamp", "int64"), 4: ("exemplars", ["Exemplar"])},
    "Exemplar": {
        1: ("timestamp", "int64"),
        2: ("profileId", "text"),
        3: ("spanId", "text"),
        4: ("value", "int64"),
        5: ("labels", ["LabelPair"]),
        6: ("traceId", "text"),
    },
    "SelectHeatmapResponse": {1: ("series", ["HeatmapSeries"])},
    "HeatmapSeries": {1: ("labels", ["LabelPair"]), 2: ("slots", ["Slot"])},
    "Slot": {
        1: ("timestamp", "int64"),
        2: ("yMin", ["double"]),
        3: ("counts", ["int32"]),
        4: ("exemplars", ["Exemplar"]),
    },
    "GetProfileStatsResponse": {
        1: ("dataIngested", "bool"),
        2: ("oldestProfileTime", "int64"),
        3: ("newestProfileTime", "int64"),
    },
    "AnalyzeQueryResponse": {1: ("queryScopes", ["Scope"]), 2: ("queryImpact", "Impact")},
    "Scope": {
        1: ("componentType", "text"),
        2: ("componentCount", "int64"),
        3: ("blockCount", "int64"),
        4: ("seriesCount", "int64"),
        8: ("profileBytes", "int64"),
    },
    "Impact": {2: ("totalBytesInTimeRange", "int64"), 3: ("totalQueriedSeries", "int64")},
    "SelectMergeProfileResponse": {
        1: ("sampleType", ["ValueType"]),
        2: ("sample", ["Sample"]),
        3: ("mapping", ["Mapping"]),
        4: ("location", ["PprofLocation"]),
        5: ("function", ["Function"]),
        6: ("stringTable", ["text"]),
        9: ("timeNanos", "int64"),
        10: ("durationNanos", "int64"),
        11: ("periodType", "ValueType"),
        12: ("period", "int64"),
        14: ("defaultSampleType", "int64"),
    },
    "ValueType": VALUE_TYPE,
    "Sample": {1: ("locationId", ["int64"]), 2: ("value", ["int64"]), 3: ("label", ["Label"])},
    "Label": {1: ("key", "int64"), 2: ("str", "int64"), 3: ("num", "int64"), 4: ("numUnit", "int64")},
    "Mapping": {1: ("id", "int64"), 5: ("filename", "int64"), 7: ("hasFunctions", "bool")},
    "PprofLocation": {1: ("id", "int64"), 2: ("mappingId", "int64"), 3: ("address", "int64"), 4: ("line", ["Line"])},
    "Line": {1: ("functionId", "int64"), 2: ("line", "int64")},
    "Function": {
        1: ("id", "int64"),
        2: ("name", "int64"),
        3: ("systemName", "int64"),
        4: ("filename", "int64"),
        5: ("startLine", "int64"),
    },
}
PROCEDURES = [name[: -len("Request")] for name in MESSAGES if name.endswith("Request")]


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def encode(message, values):
    out = b""
    for number, (name, kind) in MESSAGES[message].items():
        if name not in values:
            continue
        for value in values[name] if isinstance(kind, list) else [values[name]]:
            one = kind[0] if isinstance(kind, list) else kind
            if one in ("int64", "enum"):
                out += varint(number << 3) + varint(int(value))
            elif one == "double":
                out += varint(number << 3 | 1) + struct.pack("<d", value)
            else:
                content = value.encode() if one == "text" else encode(one, value)
                out += varint(number << 3 | 2) + varint(len(content)) + content
    return out


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def plain(kind, wire, raw):
    """One value as JSON has it."""
    if kind == "text":
        return raw.decode()
    if kind == "bytes":
        return base64.b64encode(raw).decode()
    if kind == "double":
        number = struct.unpack("<d", raw)[0]
        return int(number) if number == int(number) else number
    if kind == "bool":
        return bool(raw)
    if kind == "int32":
        return signed(raw)
    if kind == "int64":
        return str(signed(raw))
    return decode(kind, raw)


def packed(kind, raw):
    at = 0
    while at < len(raw):
        if kind == "double":
            yield raw[at : at + 8]
            at += 8
        else:
            value, at = read_varint(raw, at)
            yield value


def decode(message, data):
    values, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        wire = tag & 7
        if wire == 0:
            raw, at = read_varint(data, at)
        elif wire == 1:
            raw, at = data[at : at + 8], at + 8
        else:
            assert wire == 2, f"wire type {wire} in {message}"
            length, at = read_varint(data, at)
            raw, at = data[at : at + length], at + length
            assert len(raw) == length, f"{message} is cut off"
        name, kind = MESSAGES[message][tag >> 3]
        if not isinstance(kind, list):
            values[name] = plain(kind, wire, raw)
        elif wire == 2 and kind[0] in ("int64", "int32", "double"):
            values.setdefault(name, []).extend(plain(kind[0], wire, one) for one in packed(kind[0], raw))
        else:
            values.setdefault(name, []).append(plain(kind[0], wire, raw))
    return values


def post(url, procedure, body, headers, method="POST"):
    request = urllib.request.Request(f"{url}/querier.v1.QuerierService/{procedure}", body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def unpacked(headers, body):
    return gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body


def ask_json(url, procedure, request):
    headers = {"Content-Type": "application/json"}
    status, got, body = post(url, procedure, json.dumps(request).encode(), headers)
    assert status != 200 or got["Content-Type"] == "application/json", got["Content-Type"]
    return status, json.loads(body)


def ask_proto(url, procedure, request):
    headers = {"Content-Type": "application/proto", "Accept-Encoding": "gzip", "Content-Encoding": "gzip"}
    status, got, body = post(url, procedure, gzip.compress(encode(procedure + "Request", request)), headers)
    body = unpacked(got, body)
    if status != 200:
        return status, json.loads(body)
    assert got["Content-Type"] == "application/proto", got["Content-Type"]
    return status, decode(procedure + "Response", body)


def frame(content):
    return b"\0" + struct.pack(">I", len(content)) + content


def ask_grpc_web(url, procedure, request):
    """The status is that of gRPC; that of HTTP is 200."""
    headers = {"Content-Type": "application/grpc-web+proto"}
    status, _, body = post(url, procedure, frame(encode(procedure + "Request", request)), headers)
    assert status == 200, status
    message, trailers, at = b"", "", 0
    while at < len(body):
        flags, length = body[at], struct.unpack(">I", body[at + 1 : at + 5])[0]
        content, at = body[at + 5 : at + 5 + length], at + 5 + length
        if flags & 0x80:
            trailers = content.decode()
        else:
            message = content
    fields = dict(line.split(":", 1) for line in trailers.split("\r\n") if ":" in line)
    if fields["grpc-status"].strip() != "0":
        return int(fields["grpc-status"]), fields
    return 0, decode(procedure + "Response", message)


ASK = {"json": ask_json, "proto": ask_proto, "grpc-web": ask_grpc_web}


def good_requests(start, end, kind):
    span = {"start": start, "end": end}
    select = {**span, "profileTypeID": kind, "labelSelector": "{}"}
    return {
        "ProfileTypes": span,
        "LabelValues": {**span, "name": "service_name", "matchers": ["{}"]},
        "LabelNames": {**span, "matchers": []},
        "Series": {**span, "matchers": [], "labelNames": []},
        "SelectMergeStacktraces": select,
        "SelectMergeSpanProfile": {**select, "spanSelector": ["00f067aa0ba902b7"]},
        "SelectMergeProfile": select,
        "SelectSeries": {**select, "step": 15.0, "groupBy": ["service_name"], "exemplarType": 2},
        "SelectHeatmap": {**select, "step": 15.0, "groupBy": ["service_name"], "queryType": 1, "exemplarType": 2},
        "Diff": {"left": select, "right": select},
        "GetProfileStats": {},
        "AnalyzeQuery": {**span, "query": kind + "{}"},
    }


def changed(request, **values):
    """The request with these fields, in both sides of a diff."""
    if "left" in request:
        return {side: {**request[side], **values} for side in ("left", "right")}
    return {**request, **values}


def without(request, *names):
    if "left" in request:
        return {side: without(request[side], *names) for side in ("left", "right")}
    return {name: value for name, value in request.items() if name not in names}


def has(request, name):
    return name in request or name in request.get("left", {})


def cases(procedure, good, start):
    """What is asked, and the status that Connect gives for it."""
    yield "good", good, 200
    yield "unknown fields", {**good, "somethingElse": [1, {"a": None}]}, 200
    if has(good, "start"):
        range_is_needed = 200 if procedure == "ProfileTypes" else 400
        yield "missing range", without(good, "start", "end"), range_is_needed
        yield "empty range", changed(good, start=start + 7200000, end=start + 7200001), 200
        yield "range of 1970", changed(good, start=1000, end=4000), 200
        yield "end before start", changed(good, start=start, end=start - 1), 400
    if has(good, "profileTypeID"):
        yield "missing type", without(good, "profileTypeID"), 400
        yield "missing selector", without(good, "labelSelector"), 400
        yield "unknown type", changed(good, profileTypeID="a:b:c:d:e"), 200
        yield "type of six parts", changed(good, profileTypeID="a:b:c:d:e:delta"), 200
        yield "type of four parts", changed(good, profileTypeID="a:b:c:d"), 400
        yield "bad selector", changed(good, labelSelector="{a="), 400
        yield "selector of another type", changed(good, labelSelector='{__type__="nothing"}'), 200
        if procedure not in ("SelectMergeProfile", "SelectSeries", "SelectHeatmap"):
            yield "negative max_nodes", changed(good, maxNodes=-1), 400
            yield "too large max_nodes", changed(good, maxNodes=1048577), 400
    if "matchers" in good:
        yield "bad matcher", {**good, "matchers": ["{}", "{a=~'('}"]}, 400
    if "step" in good:
        yield "missing step", without(good, "step"), 400
        yield "step of nearly nothing", {**good, "step": 0.0001}, 400
        yield "step of too many points", {**good, "step": 0.001, "start": start - 3600000}, 400
    if "spanSelector" in good:
        yield "bad span", {**good, "spanSelector": ["12"]}, 400


def check(problems, what, got, wanted):
    if got != wanted:
        problems.append(f"{what}: got {got}, wanted {wanted}")


def check_envelopes(url, procedure, good, problems):
    """What has nothing to do with the message."""
    as_json = {"Content-Type": "application/json"}
    bad = post(url, procedure, b"{\"start\":", as_json)
    check(problems, f"{procedure}, malformed JSON", bad[0], 400)
    check(problems, f"{procedure}, its code", json.loads(bad[2])["code"], "invalid_argument")
    check(problems, f"{procedure}, empty JSON", post(url, procedure, b"", as_json)[0], 400)
    bad = post(url, procedure, b"\x0a\xff", {"Content-Type": "application/proto"})
    check(problems, f"{procedure}, malformed protobuf", bad[0], 400)
    check(problems, f"{procedure}, GET", post(url, procedure, None, {}, "GET")[0], 405)
    check(problems, f"{procedure}, text", post(url, procedure, b"{}", {"Content-Type": "text/plain"})[0], 415)
    coded = {"Content-Type": "application/json", "Content-Encoding": "br"}
    check(problems, f"{procedure}, unknown coding", post(url, procedure, b"{}", coded)[0], 501)
    coded["Content-Encoding"] = "gzip"
    check(problems, f"{procedure}, not gzip", post(url, procedure, b"{}", coded)[0], 400)
    status, answer = ask_grpc_web(url, procedure, good)
    check(problems, f"{procedure}, gRPC-Web", status, 0)
    check(problems, f"{procedure}, its answer", answer, ask_json(url, procedure, good)[1])


def table(url, start, end, kind):
    problems = []
    for procedure, good in good_requests(start, end, kind).items():
        for case, request, wanted in cases(procedure, good, start):
            what = f"{procedure}, {case}"
            status, answer = ask_json(url, procedure, request)
            check(problems, what, status, wanted)
            proto_status, proto_answer = ask_proto(url, procedure, without(request, "somethingElse"))
            check(problems, f"{what}, protobuf", proto_status, wanted)
            check(problems, f"{what}, protobuf's answer", proto_answer, answer)
            if status != 200:
                check(problems, f"{what}, its code", answer["code"], "invalid_argument")
                check(problems, f"{what}, a sentence", len(answer["message"]) > 10, True)
        check_envelopes(url, procedure, good, problems)
    return problems


def main(arguments):
    if arguments[0] == "ask":
        url, procedure, request = arguments[1:4]
        status, answer = ASK[arguments[4] if len(arguments) > 4 else "json"](url, procedure, json.loads(request))
        json.dump({"status": status, "answer": answer}, sys.stdout)
    elif arguments[0] == "frame":
        sys.stdout.buffer.write(frame(encode(arguments[1] + "Request", json.loads(arguments[2]))))
    else:
        problems = table(arguments[1], int(arguments[2]), int(arguments[3]), arguments[4])
        print("\n".join(problems) or "all as it should be")


if __name__ == "__main__":
    main(sys.argv[1:])
