# SPDX-License-Identifier: Apache-2.0
"""Senders of spans that remember what was acknowledged, for traces-kill.sh.

    tracecrowd.py send HOST:PORT LEDGER SENDERS ROUND     until the server goes away, or SIGTERM
    tracecrowd.py check HOST:PORT LEDGER                  against what the server answers

A request is one trace of SPANS spans, sent once; its id says which. Traces begin at some time of the last three hours: those
of hours that are over are closed as soon as a server is started again. The ledger has a line for each: `sent ID` before it
goes out, `kept ID` when the answer was 200, `refused ID STATUS` when it was another. Kept ones must be there with all their
spans, each once; the others at most once."""

import hashlib
import http.client
import json
import random
import sys
import threading
import time

SPANS, HOURS, SECOND_NS = 5, 3, 1000000000


def spans_of(trace_id, start_ns):
    for i in range(SPANS):
        yield {
            "traceId": trace_id,
            "spanId": "%s%02x" % (trace_id[:14], i + 1),
            "parentSpanId": "%s01" % trace_id[:14] if i else "",
            "name": "step %d" % i,
            "kind": 1 + i % 5,
            "startTimeUnixNano": str(start_ns + i * 1000000),
            "endTimeUnixNano": str(start_ns + (20 - i) * 1000000),
            "attributes": [{"key": "number", "value": {"intValue": str(i)}}],
        }


def request_of(trace_id, start_ns):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "crowd"}}]}
    spans = list(spans_of(trace_id, start_ns))
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]})


def send(address, ledger, senders, round_name):
    lock, out = threading.Lock(), open(ledger, "a", buffering=1)

    def note(text):
        with lock:
            out.write(text + "\n")

    def sender(number):
        connection, n, chance = None, 0, random.Random("%s %d" % (round_name, number))
        while True:
            trace_id = hashlib.md5(b"%s %d %d" % (round_name.encode(), number, n)).hexdigest()
            start_ns = int(time.time() * SECOND_NS) - chance.randrange(HOURS * 3600 * SECOND_NS)
            n += 1
            note("sent " + trace_id)
            try:
                connection = connection or http.client.HTTPConnection(address, timeout=60)
                headers = {"Content-Type": "application/json"}
                connection.request("POST", "/v1/traces", request_of(trace_id, start_ns), headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                return  # it is gone
            if answer.status == 200:
                note("kept " + trace_id)
            else:
                note("refused %s %d" % (trace_id, answer.status))
                time.sleep(0.05)

    threads = [threading.Thread(target=sender, args=(i,), daemon=True) for i in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Server:
    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=60)

    def ask(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status not in (200, 404):
            sys.exit("%s is answered with %d: %s" % (path, answer.status, body.decode()))
        return json.loads(body) if answer.status == 200 else None


def look_at(server, trace_id, what):
    """How many spans of the trace are there, and what is wrong with it."""
    answer = server.ask("/api/v1/trace?id=%s&from=5h" % trace_id)
    found = sorted(span["span_id"] for span in answer["spans"]) if answer else []
    wanted = [span["spanId"] for span in spans_of(trace_id, 0)]
    if len(set(found)) != len(found):
        return len(found), "%s (%s) has spans twice: %s" % (trace_id, what, found)
    if what == "kept" and found != wanted:
        return len(found), "%s was acknowledged, and has the spans %s, not %s" % (trace_id, found, wanted)
    return len(found), None


def check(address, ledger):
    server, state, wrong, n_found = Server(address), {}, [], 0
    for line in open(ledger):
        words = line.split()
        state[words[1]] = words[0]
    for trace_id, what in state.items():
        n, complaint = look_at(server, trace_id, what)
        n_found += n
        wrong += [complaint] if complaint else []
    # Blocks count their spans themselves: a closing that came in twice would show here.
    operations = server.ask("/api/v1/operations?from=5h")["operations"]
    n_counted = sum(operation["n_spans"] for operation in operations)
    if n_counted != n_found:
        wrong.append("operations count %d spans, the traces have %d" % (n_counted, n_found))
    kept = sum(what == "kept" for what in state.values())
    print("%d sent, %d kept, %d refused" % (len(state), kept, sum(what == "refused" for what in state.values())))
    if wrong:
        sys.exit("%d wrong: %s" % (len(wrong), "; ".join(wrong[:5])))
    if not kept:
        sys.exit("nothing was kept, so nothing was tested")


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        check(sys.argv[2], sys.argv[3])
