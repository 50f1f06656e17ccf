# SPDX-License-Identifier: Apache-2.0
"""Runs every `$ hearth ...` line that a page prints and checks that each line printed below it really comes out. The
commands of a page run in order, in a copy of examples/ of its own.

    check_pages.py HEARTH ROOT PAGE...
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def run(hearth, command):
    command = re.sub(r"\bhearth\b", lambda match: hearth, command, count=1) if command.startswith("hearth") else \
        command.replace("| hearth", "| " + hearth)
    done = subprocess.run(["bash", "-c", command.replace("examples/", "")], capture_output=True, encoding="utf-8",
                          env=dict(os.environ, LC_ALL="C.UTF-8"))
    return [line.rstrip() for line in (done.stdout + done.stderr).split("\n")]


def check(hearth, root, page):
    """Returns how many commands the page has, and how many of its lines do not come out."""
    commands = wrong = 0
    with open(os.path.join(root, page), encoding="utf-8") as file:
        blocks = re.findall(r"```\n(\$ .*?)```", file.read(), re.S)
    for part in (part for block in blocks for part in re.split(r"^\$ ", block, flags=re.M)[1:]):
        command, _, printed = part.partition("\n")
        commands += 1
        got = run(hearth, command)
        for line in printed.split("\n"):
            if line.strip() not in ("", "...") and line.rstrip() not in got:
                print("%s: '%s' does not print: %s" % (page, command, line))
                wrong += 1
    return commands, wrong


def main():
    hearth, root, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
    commands = wrong = 0
    for page in pages:
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(os.path.join(root, "examples"), place, dirs_exist_ok=True)
            os.chdir(place)
            found = check(hearth, root, page)
            os.chdir(root)
        commands += found[0]
        wrong += found[1]
    print("%d commands" % commands)
    sys.exit(1 if wrong or not commands else 0)


main()
