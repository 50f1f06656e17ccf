# SPDX-License-Identifier: Apache-2.0
"""A program with a known hot spot that sends its profiles with the official Pyroscope SDK: pysender.py URL SECONDS"""
import sys
import time

import pyroscope


def hot_loop(until):
    n = 0
    while time.time() < until:
        for i in range(20000):
            n += i % 7
    return n


pyroscope.configure(
    application_name="py-sender",
    server_address=sys.argv[1],
    sample_rate=100,
    tags={"region": "eu-2"},
)
end = time.time() + float(sys.argv[2])
while time.time() < end:
    with pyroscope.tag_wrapper({"handler": "/pay"}):
        hot_loop(time.time() + 0.2)
pyroscope.shutdown()
