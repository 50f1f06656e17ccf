# SPDX-License-Identifier: Apache-2.0
"""Runs every `$ hearth ...` line that a page prints and checks that each line printed below it really comes out.

    check_pages.py HEARTH ROOT PAGE...
"""
import os
import re
import subprocess
import sys


def run(hearth, command):
    command = re.sub(r"\bhearth\b", lambda match: hearth, command, count=1) if command.startswith("hearth") else \
        command.replace("| hearth", "| " + hearth)
    done = subprocess.run(["bash", "-c", command.replace("examples/", "")], capture_output=True, text=True)
    return [line.rstrip() for line in (done.stdout + done.stderr).split("\n")]


def main():
    hearth, root, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.chdir(os.path.join(root, "examples"))
    commands = wrong = 0
    for page in pages:
        with open(os.path.join(root, page)) as file:
            blocks = re.findall(r"```\n(\$ .*?)```", file.read(), re.S)
        for part in (part for block in blocks for part in re.split(r"^\$ ", block, flags=re.M)[1:]):
            command, _, printed = part.partition("\n")
            commands += 1
            got = run(hearth, command)
            for line in printed.split("\n"):
                if line.strip() not in ("", "...") and line.rstrip() not in got:
                    print("%s: '%s' does not print: %s" % (page, command, line))
                    wrong += 1
    print("%d commands" % commands)
    sys.exit(1 if wrong or not commands else 0)


main()
