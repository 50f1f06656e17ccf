#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Python program's profile: zprofile (the profiler of Google's cloud agent, on its own) writes pprof by Python's protobuf.
# shellcheck source=tests/peers/lib.sh
. "$(dirname "$0")/lib.sh"
build_go_peers

t "zprofile installs from PyPI"
cat >requirements.txt <<'PINNED'
zprofile==1.0.13 --hash=sha256:02d50e818e2d7c92ee01c83ac72d56878b915576ab0a7cb075e7509b2c95fe3b
protobuf==3.20.3 --hash=sha256:a7ca6d488aa8ff7f329d4c545b2dbad8ac31464f1d8b1c87ad1346717731e4db
PINNED
# The wheel is for CPython 3.11, Debian 12's. The environment is kept for the next run.
environment=$root/build/python-peers
python=/usr/bin/python3.11
[ -x $python ] || python=$(command -v python3.11)
if [ ! -x "$python" ] || [ "$(uname -m)" != x86_64 ]; then
    cannot "zprofile's wheel is for CPython 3.11 on x86_64"
    stop
fi
if ! cmp -s requirements.txt "$environment/requirements.txt"; then
    rm -rf "$environment"
    if ! { "$python" -m venv "$environment" && "$environment/bin/pip" install -q --disable-pip-version-check \
        --only-binary :all: --require-hashes -r requirements.txt; } >pip.log 2>&1; then
        skip "$(tail -n 1 pip.log)"
        stop
    fi
    cp requirements.txt "$environment/"
fi

t "a Python program writes a profile of itself"
"$environment/bin/python" "$here/write_python_profile.py" python.pb.gz >numbers 2>python.log || fail "$(cat python.log)"
read -r samples count nanoseconds <numbers
[ "${count:-0}" -gt 5 ] || fail "only $count samples were taken: $(cat numbers)"

t "hearth's totals are those that Python reads"
run hearth inspect --json python.pb.gz
status_is 0
err_empty
same "$(json '[d["profiles"][0]["samples"]] + [t["total"] for t in d["profiles"][0]["types"]]')" \
    "[$samples, $count, $nanoseconds]"

t "tables and trees equal pprof's"
equal top python3 "$here/compare_top.py" "$hearth" "$peers/pprofcheck" "$pprof" python.pb.gz
equal tree python3 "$here/compare_tree.py" "$hearth" "$peers/pprofcheck" "$pprof" python.pb.gz
run hearth top -n 0 python.pb.gz
out_has "spin"
out_has "recurse"

t "what hearth writes is the same profile, for Go and for Python"
hearth_to python.pb.gz ours.pb.gz
equal python "$peers/pprofcheck" -diff python.pb.gz ours.pb.gz
# samples FILE: as Python's protobuf reads them, in any order of the tables.
cat >samples.py <<'PYTHON'
import gzip, sys
from zprofile import profile_pb2
p = profile_pb2.Profile.FromString(gzip.decompress(open(sys.argv[1], "rb").read()))
names = {f.id: p.string_table[f.name] for f in p.function}
frames = {l.id: [(names[x.function_id], x.line) for x in l.line] for l in p.location}
for s in sorted((str([frames[i] for i in s.location_id]), list(s.value)) for s in p.sample):
    print(s)
PYTHON
"$environment/bin/python" samples.py python.pb.gz >wanted
"$environment/bin/python" samples.py ours.pb.gz >got
same_file got wanted
[ -s got ] || fail "Python read no sample"

finish
