#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows README.md word for word: runs each command of its blocks in order, and wants the output that it shows.

    follow_readme.py README

Runs in a network of its own, so that the ports of the README are free, in the current directory, where `run`, `examples` and
cpu.pb.gz are and `hearth` is in the PATH. Lines of a block that begin with `$ ` are commands, and what follows is their
output, up to `...`; in blocks of `sh` every line is a command. Those that go on until they are stopped are left running until
the next one of them. Prints one line for each command, and ends with 1 if any was wrong.
"""
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

LEFT_OUT = re.compile(r"^\./check")  # this is one of its tests
ENDLESS = {"./run": "Ctrl-C stops them", "./run server": '"ready":true'}


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh22x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def blocks(text):
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield match.group(1), match.group(2)


class Follower:
    def __init__(self):
        self.running = None
        self.printed = ""
        self.bad = 0

    def tell(self, is_good, what, why=""):
        print(f"{'ok  ' if is_good else 'FAIL'} {what}" + (f"\n{why}" if why and not is_good else ""))
        self.bad += not is_good

    def stop(self):
        if not self.running:
            return
        os.killpg(self.running.pid, signal.SIGINT)
        self.tell(self.running.wait(30) == 0, "Ctrl-C ends it", self.printed[-2000:])
        self.running = None

    def start(self, command):
        self.stop()
        with open("endless.out", "w") as out:
            self.running = subprocess.Popen(command.split(), stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        for _ in range(1200):
            self.printed = open("endless.out").read()
            if ENDLESS[command] in self.printed or self.running.poll() is not None:
                break
            time.sleep(0.1)
        self.tell(ENDLESS[command] in self.printed, command, self.printed[-2000:])

    def run(self, command, expected):
        command = re.sub(r"\s{2,}#.*$", "", command)
        if LEFT_OUT.search(command):
            return
        if command in ENDLESS:
            self.start(command)
            return
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
        got = [line.rstrip() for line in done.stdout.splitlines()]
        missing = [line for line in expected if line.rstrip() not in got]
        self.tell(done.returncode == 0 and not missing, command,
                  "\n".join([f"exit status {done.returncode}"] + [f"lacks: {m}" for m in missing] + got[:20] + [done.stderr[-1000:]]))

    def show(self, block):
        """A block without commands is what the last endless one prints, or two lines of it that are commands themselves."""
        if not self.running or "\nThat is hearth" not in block:
            return
        lines = [line for line in block.splitlines() if line and not line.startswith("The store is in")]
        missing = [line for line in lines if line not in self.printed.splitlines()]
        self.tell(not missing, "it prints what the README shows", "\n".join(missing) + "\n--\n" + self.printed)
        for line in lines:
            if line.startswith("  "):
                self.run(line.strip(), [])

    def follow(self, kind, block):
        if kind == "sh":
            for line in block.splitlines():
                self.run(line.strip(), [])
            return
        parts = re.split(r"^\$ ", block, flags=re.M)
        if len(parts) == 1:
            self.show(block)
        for part in parts[1:]:
            command, *output = part.splitlines()
            expected = [line for line in output if line.strip() and line != "..."]
            self.run(command, expected)


def main():
    raise_loopback()
    follower = Follower()
    try:
        for kind, block in blocks(open(sys.argv[1]).read()):
            follower.follow(kind, block)
    finally:
        follower.stop()
    return 1 if follower.bad else 0


if __name__ == "__main__":
    sys.exit(main())
