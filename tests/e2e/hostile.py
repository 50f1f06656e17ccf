# SPDX-License-Identifier: Apache-2.0
"""Peers that mean no good, for hostile.sh: `hostile.py HOST:PORT CASE`. Says what went wrong, or nothing.

Each case is a function; after it the server must still answer /ready on a connection of its own."""

import gzip
import json
import select
import socket
import struct
import sys
import threading

HOST, PORT = sys.argv[1].rsplit(":", 1)
WAIT = 30


def connect():
    s = socket.create_connection((HOST, int(PORT)), WAIT)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def hear(s):
    """All that comes until the other end closes, or an answer is whole."""
    said = b""
    while True:
        try:
            piece = s.recv(65536)
        except ConnectionResetError:
            return said
        said += piece
        head, end, body = said.partition(b"\r\n\r\n")
        if not piece:
            return said
        if end and head.startswith(b"HTTP/1.1 ") and not head.startswith(b"HTTP/1.1 1"):
            length = [int(l.split(b":")[1]) for l in head.lower().split(b"\r\n") if l.startswith(b"content-length:")]
            if len(body) >= (length or [0])[0]:
                return said


def status(said):
    return int(said.split()[1]) if said.startswith(b"HTTP/1.1 ") else None


def ready():
    with connect() as s:
        s.sendall(b"GET /ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        said = hear(s)
        assert status(said) == 200, "/ready said %r" % said[:200]


def request(path, body=b"", headers=(), method="POST"):
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: x", "Content-Length: %d" % len(body), *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def ask(raw, wanted):
    with connect() as s:
        try:
            s.sendall(raw)
        except (BrokenPipeError, ConnectionResetError):
            pass
        said = hear(s)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        assert status(said) in wanted, "%r was answered %r, not %s" % (raw[:120], said[:300], wanted)
        return said


# --- HTTP/1.1 ---


def smuggling():
    chunked = b"POST /ingest?name=x HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    post = b"POST /ingest?name=x HTTP/1.1\r\nHost: x\r\n"
    hidden = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    cases = [
        (chunked % b"Content-Length: 3\r\n", 400),
        (post + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
        (post + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400),
        (post + b"Content-Length: 3, 3\r\n\r\nabc", 400),
        (post + b"Content-Length: +3\r\n\r\nabc", 400),
        (post + b"Content-Length: 0x3\r\n\r\nabc", 400),
        (post + b"Content-Length : 3\r\n\r\nabc", 400),
        (post + b"Content-Length: 99999999999999999999\r\n\r\n", 400),
        (post + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
        (post + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
        (post + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 501),
        (post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 501),
        (post + b"X: y\r\n Content-Length: 3\r\n\r\nabc", 400),
        (post + b"X: a\rContent-Length: 3\r\n\r\nabc", 400),
        (post + b"X: a\nContent-Length: 3\r\n\r\nabc", 400),
        (post + b"X: a\0b\r\n\r\n", 400),
        (post + b"Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", 400),
        (post + b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", 400),
        (post + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc\r\n", 400),
        (post + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n0\r\n\r\n", 400),
        (b"GET /ready HTTP/1.1\r\n\r\n", 400),
        (b"GET /ready HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET  /ready HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /ready\r\n\r\n", 400),
        (b"GET /rea\x01dy HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (b"GET /ready HTTP/1.1\r\nHost: a\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
        (b"GET /ready HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 80000 + b"\r\n\r\n", 431),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    ]
    for raw, wanted in cases:
        said = ask(raw + hidden, wanted)
        assert said.count(b"HTTP/1.1 ") == 1, "what was hidden behind %r was answered: %r" % (raw, said)


def one_byte_writes():
    raw = request("/ingest?name=slow&format=groups", b"main;slow 1\n")
    with connect() as s:
        for byte in raw:
            s.sendall(bytes([byte]))
        assert status(hear(s)) == 200


def half_close():
    with connect() as s:
        s.sendall(request("/ingest?name=half&format=groups", b"main;half 1\n"))
        s.shutdown(socket.SHUT_WR)
        assert status(hear(s)) == 200
    with connect() as s:
        s.sendall(request("/ingest?name=half&format=groups", b"main;half 1\n")[:-3])
        s.shutdown(socket.SHUT_WR)
        assert hear(s) == b""


def slowloris():
    """With a --head-timeout and --body-timeout of a second or so."""
    peers = [connect() for _ in range(200)]
    for i, s in enumerate(peers):
        s.sendall(b"GET /ready HTTP/1.1\r\nHost: x\r\nX: " if i % 2 else request("/ingest?name=x", b"half")[:-2])
    ready()
    for s in peers:
        assert status(hear(s)) == 408
        s.close()


def many_connections():
    peers = [connect() for _ in range(900)]  # a process may usually have 1024 files open
    ready()
    for s in peers[::10]:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    for s in peers[::10]:
        assert status(hear(s)) == 200
    for s in peers:
        s.close()


def pipelined_flood():
    """Asks without end and never reads."""
    with connect() as s:
        s.setblocking(False)
        raw = b"GET /api/v1/status/buildinfo HTTP/1.1\r\nHost: x\r\n\r\n" * 1000
        for _ in range(400):
            if not select.select([], [s], [], 0.2)[1]:
                break
            try:
                s.send(raw)
            except BlockingIOError:
                pass
        else:
            raise AssertionError("the server reads on though its answers are not read")
    ready()


# --- HTTP/2 ---

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, PRIORITY, RESET, SETTINGS, PING, GOAWAY, CONTINUATION = 1, 2, 3, 4, 6, 7, 9
GET_READY = b"\x82\x86\x04\x06/ready\x41\x01x"  # :method GET, :scheme http, :path /ready, :authority x


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def farewell(raw):
    """The code of the GOAWAY that ends the connection; None if it ends without one."""
    with connect() as s:
        sender = threading.Thread(target=send_quietly, args=(s, PREFACE + frame(SETTINGS) + raw), daemon=True)
        sender.start()
        said = b""
        while True:
            try:
                piece = s.recv(65536)
            except ConnectionResetError:
                break
            if not piece:
                break
            said += piece
        code = None
        while len(said) >= 9:
            length = int.from_bytes(said[:3], "big")
            if said[3] == GOAWAY:
                code = int.from_bytes(said[13:17], "big")
            said = said[9 + length :]
        return code


def send_quietly(s, raw):
    try:
        s.sendall(raw)
    except OSError:
        pass


PROTOCOL_ERROR, FLOW_CONTROL, FRAME_SIZE, COMPRESSION, CALM = 1, 3, 6, 9, 11


def frames():
    broken = [
        (frame(HEADERS, 5, 0, GET_READY), (PROTOCOL_ERROR,)),
        (frame(HEADERS, 5, 2, GET_READY), (PROTOCOL_ERROR,)),
        (frame(HEADERS, 5, 1, b"\xff" * 40), (COMPRESSION,)),
        (frame(SETTINGS, 0, 0, b"abc"), (FRAME_SIZE,)),
        (frame(SETTINGS, 0, 1), (PROTOCOL_ERROR,)),
        (frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0xFFFFFFFF)), (FLOW_CONTROL,)),
        (frame(PING, 0, 0, b"short"), (FRAME_SIZE,)),
        (frame(CONTINUATION, 4, 1, GET_READY), (PROTOCOL_ERROR,)),
        (frame(0, 0, 0, b"data"), (PROTOCOL_ERROR,)),
        (frame(8, 0, 0, struct.pack(">I", 0)), (PROTOCOL_ERROR,)),
        (frame(8, 0, 0, struct.pack(">I", 0x7FFFFFFF)), (FLOW_CONTROL,)),
        (frame(5, 4, 1, struct.pack(">I", 2) + GET_READY), (PROTOCOL_ERROR,)),
        (b"\xff\xff\xff" + b"\x00" * 6 + b"x" * 20000, (FRAME_SIZE,)),
    ]
    for raw, wanted in broken:
        code = farewell(raw)
        assert code in wanted, "%r ended with %s, not %s" % (raw[:40], code, wanted)


def rapid_reset():
    raw = b"".join(frame(HEADERS, 5, i, GET_READY) + frame(RESET, 0, i, struct.pack(">I", 8)) for i in range(1, 20001, 2))
    assert farewell(raw) == CALM


def ping_flood():
    assert farewell(frame(PING, 0, 0, b"abcdefgh") * 20000) == CALM


def settings_flood():
    assert farewell(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)) * 5000) == CALM


def priority_flood():
    assert farewell(frame(PRIORITY, 0, 1, b"\0\0\0\3\1") * 20000) == CALM


def continuation_flood():
    raw = frame(HEADERS, 1, 1, GET_READY) + frame(CONTINUATION, 0, 1, b"") * 20000
    code = farewell(raw)
    assert code in (CALM, PROTOCOL_ERROR, 2), code


def empty_data_flood():
    post = b"\x83\x86\x04\x07/ingest\x41\x01x"
    assert farewell(frame(HEADERS, 4, 1, post) + frame(0, 0, 1) * 20000) == CALM


# --- bodies ---


def huge_body():
    """300 MB are refused before they are sent, whether their number is told or not."""
    said = ask(b"POST /ingest?name=x HTTP/1.1\r\nHost: x\r\nContent-Length: 300000000\r\n\r\n" + bytes(1 << 20), 413)
    assert b"the body is larger than" in said
    with connect() as s:
        sent, said = 0, b""
        s.sendall(b"POST /ingest?name=x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
        while sent < 300 << 20:
            if select.select([s], [], [], 0)[0]:
                break
            s.sendall(piece)
            sent += len(piece)
        assert status(hear(s)) == 413
        assert sent < 100 << 20, "%d bytes were taken" % sent


def gzip_bomb():
    bomb = gzip.compress(bytes(100 << 20), 9)
    for path in ("/ingest?name=bomb&format=pprof", "/ingest?name=bomb&format=groups", "/profiles"):
        ask(request(path, bomb, ["Content-Encoding: gzip"]), 413)
    ask(request("/v1development/profiles", bomb, ["Content-Encoding: gzip", "Content-Type: application/x-protobuf"]), (400, 413))
    ask(request("/push.v1.PusherService/Push", bomb, ["Content-Encoding: gzip", "Content-Type: application/proto"]), (400, 413, 429))


def deep_json():
    for body in (b"[" * 1000000, b'{"resourceProfiles":' * 100000, b'{"a":' * 500000 + b"1" + b"}" * 500000):
        ask(request("/v1development/profiles", body, ["Content-Type: application/json"]), (400, 413))
        ask(request("/push.v1.PusherService/Push", body, ["Content-Type: application/json"]), (400, 413, 429))


def empty_profiles():
    ask(request("/ingest?name=empty&format=pprof"), (200, 400, 422))
    ask(request("/ingest?name=empty&format=groups"), (200, 400, 422))
    ask(request("/profiles"), (200, 400, 422))
    ask(request("/ingest?name=empty&format=pprof", gzip.compress(b"")), (200, 400, 422))
    ask(request("/push.v1.PusherService/Push", b"", ["Content-Type: application/proto"]), (200, 400))
    ask(request("/push.v1.PusherService/Push", b"{}", ["Content-Type: application/json"]), (200, 400))
    ask(request("/v1development/profiles", b"", ["Content-Type: application/x-protobuf"]), (200, 400))
    ask(request("/v1development/profiles", b"{}", ["Content-Type: application/json"]), (200, 400))


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof(labels):
    """One function, and a sample for each of the label values."""
    strings = [b"", b"cpu", b"nanoseconds", b"main", b"id", *labels]
    out = [field(1, field(1, 1) + field(2, 2))]
    out += (field(2, field(1, 1) + field(2, 10) + field(3, field(1, 4) + field(2, 5 + i))) for i in range(len(labels)))
    out += field(4, field(1, 1) + field(4, field(1, 1))), field(5, field(1, 1) + field(2, 3))
    return b"".join(out) + b"".join(field(6, s) for s in strings)


def many_labels():
    body = pprof([b"value-%d" % i for i in range(100000)])
    ask(request("/ingest?name=labels&format=pprof", body), 200)
    for i in range(300):  # and as many series, each by itself
        ask(request("/ingest?name=labels%%7Bpod%%3Dp%d%%7D&format=groups" % i, b"main 1\n"), 200)


def long_label():
    ask(request("/ingest?name=long&format=pprof", pprof([b"x" * (1 << 20)])), 200)
    ask(request("/ingest?name=long%7Ba%3D" + "x" * 20000 + "%7D&format=groups", b"main 1\n"), (200, 400))
    ask(request("/ingest?name=long%7Ba%3D" + "x" * 1000000 + "%7D&format=groups", b"main 1\n"), (414, 431))
    text = {"key": "service.name", "value": {"stringValue": "x" * (1 << 20)}}
    body = json.dumps({"resourceProfiles": [{"resource": {"attributes": [text]}}]}).encode()
    ask(request("/v1development/profiles", body, ["Content-Type: application/json"]), (200, 400))


if __name__ == "__main__":
    try:
        globals()[sys.argv[2]]()
        ready()
    except Exception as e:
        print("%s: %r" % (sys.argv[2], e))
        sys.exit(1)
