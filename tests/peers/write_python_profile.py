# SPDX-License-Identifier: Apache-2.0
"""write_python_profile.py OUT: profiles itself with zprofile for 0.7 s, writes the pprof file that zprofile makes, and
prints what Python's own protobuf reads from it: samples, then the total of each type."""
import gzip
import sys
import threading

from zprofile import profile_pb2
from zprofile.cpu_profiler import CPUProfiler

stop = threading.Event()


def spin(n):
    return sum(i * i % 7 for i in range(n))


def recurse(depth):
    return spin(500) if depth == 0 else recurse(depth - 1) + spin(100)


class Größe:
    def berechnen(self):
        return spin(1000)


def work():
    while not stop.is_set():
        spin(2000)
        recurse(8)
        Größe().berechnen()


def main():
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    data = CPUProfiler().profile(0.7)
    stop.set()
    for thread in threads:
        thread.join()
    with open(sys.argv[1], "wb") as out:
        out.write(data)
    profile = profile_pb2.Profile.FromString(gzip.decompress(data))
    totals = [sum(sample.value[i] for sample in profile.sample) for i in range(len(profile.sample_type))]
    print(len(profile.sample), *totals)


main()
