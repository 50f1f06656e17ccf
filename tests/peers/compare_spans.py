#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_spans.py CHECK URL SERVICE MARKED SPANS

Puts what hearth knows of a service beside what its program (senders/tracesender.py, senders/go/cmd/tracesender) said of it:
SPANS has its lines OPERATION TRACE_ID SPAN_ID. MARKED says what its samples are marked with: `root`, the id of the local root
span, or `all`, that of the span at hand. CHECK is one of

    found        searches by operation find the traces that were sent, each with all its spans
    functions    the flame graph of each span has the functions that it ran, and of the others none, by either attribution
    counts       a trace says of each span how many samples its flame graph has, and parts of the latency sum to its duration
    operations   flame graphs of operations are those of their spans, slow ones and the rest are all of them
    through      searches by function find the traces that were sampled in it

Prints `ok`, or a line for each difference and exits 1.
"""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
NAMES = {"alpha": "alpha", "prepare": "prepare alpha", "beta": "beta"}  # of the operations of spans
RANGE = {"from": "now-1h", "until": "now"}


class Sent:
    """What the program said of its spans."""

    def __init__(self, path):
        self.spans = []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                kind, trace_id, span_id = line.split()
                self.spans.append((kind, trace_id, span_id))

    def traces_of(self, kind):
        return {trace_id for each, trace_id, _ in self.spans if each == kind}

    def spans_of(self, trace_id):
        return {span_id: kind for kind, each, span_id in self.spans if each == trace_id}


class Checker:
    def __init__(self, url, service, marked, sent):
        self.url, self.service, self.marked, self.sent = url, service, marked, sent
        self.query = "%s.cpu" % service
        self.differences = []

    def differ(self, what, got, wanted):
        if got != wanted:
            self.differences.append("%s: got %s, wanted %s" % (what, got, wanted))

    def ask(self, path, **params):
        query = {name.replace("_", "-"): value for name, value in params.items() if value}
        url = "%s/api/v1/%s?%s" % (self.url, path, urllib.parse.urlencode({**RANGE, **query}))
        try:
            with urllib.request.urlopen(url) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            sys.exit("%s: %s %s" % (url, error.code, error.read().decode()))

    def function(self, kind):
        """The name of the function that this kind of span runs."""
        words = {"alpha": ("burn", "alpha"), "prepare": ("prepare", "alpha"), "beta": ("burn", "beta")}[kind]
        return "_".join(words) if self.service.startswith("py") else "main.%s%s" % (words[0], words[1].capitalize())

    def kinds_of(self, kind, attribution):
        """The kinds of spans whose functions are in the flame graph of a span."""
        if kind == "prepare":
            return {"prepare"} if self.marked == "all" else set()
        has_children = self.marked == "root" or attribution == "root"
        return {"alpha", "prepare"} if kind == "alpha" and has_children else {kind}

    def graph(self, **params):
        """What a flame graph has of each known function, and in all."""
        found = {}

        def walk(node):
            for kind in NAMES:
                if node["name"] == self.function(kind):
                    found[kind] = found.get(kind, 0) + node["total"]
            for child in node.get("children", []):
                walk(child)

        answer = self.ask("flamegraph", query=self.query, min_share="0", **params)
        walk(answer["tree"])
        return found, answer["total"]

    def check_found(self):
        for kind in ("alpha", "beta"):
            traces = self.ask("traces", service=self.service, operation=NAMES[kind], limit="100")["traces"]
            self.differ("traces of %s" % kind, sorted(one["trace_id"] for one in traces), sorted(self.sent.traces_of(kind)))
            for one in traces:
                self.differ("root of %s" % one["trace_id"], (one["root"]["service"], one["root"]["operation"]), (self.service, NAMES[kind]))
                self.differ("spans of %s" % one["trace_id"], one["n_spans"], len(self.sent.spans_of(one["trace_id"])))

    def check_functions(self):
        for attribution in ("own", "root"):
            n_sampled = {}
            for kind, _, span_id in self.sent.spans:
                found, total = self.graph(span_id=span_id, attribution=attribution)
                allowed = self.kinds_of(kind, attribution)
                self.differ("functions of %s %s (%s) that it did not run" % (kind, span_id, attribution), sorted(set(found) - allowed), [])
                # What is in no known function is the runtime's, and little of it.
                if found and sum(found.values()) < 0.8 * total:
                    self.differ("nanoseconds of %s %s (%s) in its functions" % (kind, span_id, attribution), sum(found.values()), total)
                if allowed and found.keys() == allowed:
                    n_sampled[kind] = n_sampled.get(kind, 0) + 1
            # Profilers miss a span now and then: while they send, above all.
            for kind in NAMES:
                n_sent = sum(1 for each, _, _ in self.sent.spans if each == kind)
                if self.kinds_of(kind, attribution) and n_sampled.get(kind, 0) < n_sent / 2:
                    self.differ("spans of %s with all of their functions (%s)" % (kind, attribution), n_sampled.get(kind, 0), n_sent)

    def check_counts(self):
        for attribution in ("own", "root"):
            for trace_id in sorted(self.sent.traces_of("alpha")):
                trace = self.ask("trace", id=trace_id, attribution=attribution)
                kinds = self.sent.spans_of(trace_id)
                self.differ("spans of %s" % trace_id, sorted(one["span_id"] for one in trace["spans"]), sorted(kinds))
                for span in trace["spans"]:
                    self.check_span(span, kinds.get(span["span_id"]), attribution)

    def check_span(self, span, kind, attribution):
        what = "%s %s (%s)" % (kind, span["span_id"], attribution)
        self.differ("operation of %s" % what, span["operation"], NAMES.get(kind))
        # What samples are marked with: the SDKs tell it only of spans that can have some, and it is their own id.
        marks = [one["value"] for one in span["attributes"] if one["key"] == "pyroscope.profile.id"]
        self.differ("mark of %s" % what, marks, [span["span_id"]] if self.kinds_of(kind, "own") else [])
        values = [one["value"] for one in span["samples"] if one["type"] == CPU]
        _, total = self.graph(span_id=span["span_id"], attribution=attribution)
        self.differ("CPU time of %s" % what, sum(values), total)
        parts = span["latency"]
        told = parts["cpu_ns"] + (parts["off_cpu_ns"] or 0) + parts["children_ns"] + parts["unknown_ns"]
        self.differ("latency of %s" % what, told, span["duration_ns"])

    def check_operations(self):
        for kind in ("alpha", "beta"):
            for attribution in ("own", "root"):
                found, total = self.graph(operation=NAMES[kind], attribution=attribution)
                self.differ("functions of operation %s (%s)" % (kind, attribution), set(found), self.kinds_of(kind, attribution))
                spans = [span_id for each, _, span_id in self.sent.spans if each == kind]
                parts = [self.graph(span_id=span_id, attribution=attribution)[1] for span_id in spans]
                self.differ("nanoseconds of operation %s (%s)" % (kind, attribution), total, sum(parts))
            diff = self.ask("slow-fast", query=self.query, operation=NAMES[kind], share="50%")
            total = self.graph(operation=NAMES[kind])[1]
            self.differ("slow and fast spans of %s" % kind, diff["before"]["total"] + diff["after"]["total"], total)

    def check_through(self):
        for kind in ("alpha", "beta"):
            name = "^%s$" % self.function(kind)
            traces = self.ask("traces", query=self.query, function=name, order="slowest", limit="100")["traces"]
            sampled = {t for each, t, s in self.sent.spans if each == kind and kind in self.graph(span_id=s)[0]}
            self.differ("traces through %s" % name, sorted(one["trace_id"] for one in traces), sorted(sampled))
            durations = [one["matched"]["duration_ns"] for one in traces]
            self.differ("durations of traces through %s" % name, durations, sorted(durations, reverse=True))


def main(check, url, service, marked, path):
    checker = Checker(url, service, marked, Sent(path))
    if not checker.sent.spans:
        checker.differ("spans that the program said", 0, "some")
    getattr(checker, "check_" + check)()
    print("\n".join(checker.differences[:20]) or "ok")
    return 1 if checker.differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
