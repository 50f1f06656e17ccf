# SPDX-License-Identifier: Apache-2.0
"""Senders that remember what was acknowledged, for server-kill.sh.

    crowd.py send HOST:PORT LEDGER SENDERS PAD_BYTES ROUND     until the server goes away, or SIGTERM
    crowd.py check LEDGER FOLDED                               against what `hearth query --format folded` gave

Every profile has a function of its own, p-ROUND-SENDER-NUMBER, and is sent once. The ledger has a line for each: `sent NAME`
before it goes out, `kept NAME` when the answer was 200, `refused NAME STATUS` when it was another. Kept ones must be there
exactly once; refused ones not at all; of the others nobody knows, but they are there once at most."""

import http.client
import sys
import threading

VALUE, RATE = 7, 100
NANOSECONDS = VALUE * 1000000000 // RATE


def send(address, ledger, senders, pad_bytes, round_name):
    lock, out = threading.Lock(), open(ledger, "a", buffering=1)
    padding = "".join("main;padding;frame_%06d 1\n" % i for i in range(pad_bytes // 27))

    def note(text):
        with lock:
            out.write(text + "\n")

    def sender(number):
        connection, n = None, 0
        while True:
            name = "p-%s-%d-%d" % (round_name, number, n)
            n += 1
            note("sent " + name)
            try:
                connection = connection or http.client.HTTPConnection(address, timeout=60)
                body = "main;%s %d\n%s" % (name, VALUE, padding)
                path = "/ingest?name=crowd%%7Bsender%%3Ds%d%%7D&format=groups&sampleRate=%d" % (number % 10, RATE)
                connection.request("POST", path, body)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                return  # it is gone
            note("kept " + name if answer.status == 200 else "refused %s %d" % (name, answer.status))

    threads = [threading.Thread(target=sender, args=(i,), daemon=True) for i in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check(ledger, folded):
    state, there, wrong = {}, {}, []
    for line in open(ledger):
        words = line.split()
        state[words[1]] = words[0]
    for line in open(folded):
        stack, value = line.rsplit(" ", 1)
        there[stack.split(";")[-1]] = int(value)
    for name, what in state.items():
        value = there.get(name, 0)
        if value not in (0, NANOSECONDS):
            wrong.append("%s (%s) has the value %d, not %d" % (name, what, value, NANOSECONDS))
        elif what == "kept" and not value:
            wrong.append(name + " was acknowledged and is not there")
        elif what == "refused" and value:
            wrong.append(name + " was refused and is there")
    kept = sum(what == "kept" for what in state.values())
    print("%d sent, %d kept, %d refused" % (len(state), kept, sum(what == "refused" for what in state.values())))
    if wrong:
        sys.exit("%d wrong: %s" % (len(wrong), "; ".join(wrong[:5])))
    if not kept:
        sys.exit("nothing was kept, so nothing was tested")


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])
    else:
        check(sys.argv[2], sys.argv[3])
