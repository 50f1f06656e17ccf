#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of a Go that can build tests/peers/go and bench/peers, or one
# line on stderr saying why there is none (exit 1):
#
#     go=$(tests/peers/go-env.sh) && (cd tests/peers/go && "$go" build -o ../../../build/peers/ ./cmd/...)
#
# Sourced, it only defines find_go, for a caller that stands in the repository root.
#
# Go 1.25 is needed: the collector's pprofile writes today's OTLP layout from
# v0.148 on, and that version, like the current google/pprof, asks for 1.25.0
# (pprofile v0.160 and later ask for 1.26, so v0.159 is what we use). Debian 12
# has Go 1.19, which is enough to fetch a newer toolchain through the module
# proxy it is set up with. The hash of that toolchain is pinned below, as a
# go.sum would pin it, so the checksum database need not be reachable.

need_minor=25
toolchain=go1.25.14

toolchain_hash() {
    case $1 in
    linux-amd64) echo 'h1:XriDgll2yv4W2YeUo2X/WuUuy+iGJkXGH0CQloMBEXo=' ;;
    linux-arm64) echo 'h1:tccCYNAEolyjUyQVNxD/wJuly2Sx85m+OUkzGIhO1oY=' ;;
    esac
}
toolchain_mod_hash='h1:8wlg68NqwW7eMnI1aABk/C2pDYXj8mrMY4TyRfiLeS0='

# Every call of an old or new go goes through here: no switching of toolchains
# behind our back, no GOROOT of another one.
local_go() (
    unset GOROOT
    GOTOOLCHAIN=local GOWORK=off "$@"
)

# is_new_enough GO: is it at least 1.$need_minor?
is_new_enough() {
    minor=$(local_go "$1" env GOVERSION 2>/dev/null | sed -n 's/.*go1\.\([0-9][0-9]*\).*/\1/p')
    [ "${minor:-0}" -ge "$need_minor" ]
}

# find_go ROOT: prints the path; the cache is ROOT/build/go-toolchain.
find_go() {
    cache=${1:-$(pwd)}/build/go-toolchain
    old=
    for candidate in "$(command -v go)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
        [ -x "$candidate" ] || continue
        if is_new_enough "$candidate"; then
            echo "$candidate"
            return 0
        fi
        old=${old:-$candidate}
    done
    if [ -x "$cache/$toolchain/bin/go" ]; then
        echo "$cache/$toolchain/bin/go"
    elif [ -n "$old" ]; then
        fetch_toolchain "$old" "$cache"
    else
        echo "go-env.sh: no go found on PATH: install Debian's golang-go, or Go 1.$need_minor or newer" >&2
        return 1
    fi
}

# fetch_toolchain OLD_GO CACHE: downloads, unpacks and prints the new go.
fetch_toolchain() {
    machine=$(local_go "$1" env GOHOSTOS)-$(local_go "$1" env GOHOSTARCH)
    hash=$(toolchain_hash "$machine")
    if [ -z "$hash" ]; then
        echo "go-env.sh: '$1' is older than Go 1.$need_minor, and no newer toolchain is pinned for $machine" >&2
        return 1
    fi
    version=v0.0.1-$toolchain.$machine
    mkdir -p "$2" && work=$(mktemp -d "$2/fetch.XXXXXX") || return 1
    printf 'module fetch\n' >"$work/go.mod"
    printf 'golang.org/toolchain %s %s\ngolang.org/toolchain %s/go.mod %s\n' \
        "$version" "$hash" "$version" "$toolchain_mod_hash" >"$work/go.sum"
    if ! (
        flags=$(local_go "$1" env GOFLAGS)
        cd "$work" && GO111MODULE=on GOMODCACHE="$work/mod" GOFLAGS="$flags -modcacherw" \
            local_go "$1" mod download "golang.org/toolchain@$version" >log 2>&1
    ); then
        echo "go-env.sh: '$1' is older than Go 1.$need_minor and could not fetch $toolchain: $(tr '\n' ' ' <"$work/log")" >&2
        rm -rf "$work"
        return 1
    fi
    # Module zips carry no permissions: the programs must be made executable.
    tree=$work/mod/golang.org/toolchain@$version
    chmod +x "$tree"/bin/* "$tree"/pkg/tool/*/*
    # One rename puts it in place; where another run was faster, its tree stays.
    mv -T "$tree" "$2/$toolchain" 2>/dev/null
    rm -rf "$work"
    if ! is_new_enough "$2/$toolchain/bin/go"; then
        echo "go-env.sh: the toolchain in '$2/$toolchain' does not run; remove it and try again" >&2
        return 1
    fi
    echo "$2/$toolchain/bin/go"
}

case ${0##*/} in
go-env.sh) find_go "$(cd "$(dirname "$0")/../.." && pwd)" ;;
esac
