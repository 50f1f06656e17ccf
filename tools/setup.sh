#!/bin/sh
# Installs the Debian packages of the named groups (build, page, test) that are missing: looks first, so that it costs nothing
# when all is there. Needs root or sudo only when something is missing.
set -eu
list=$(dirname "$0")/../packaging/debian-packages.txt
missing=
for group in "$@"; do
    while read -r row_group package probe; do
        [ "$row_group" = "$group" ] || continue
        case $probe in
        /*) [ -e "$probe" ] || missing="$missing $package" ;;
        *) command -v "$probe" >/dev/null 2>&1 || missing="$missing $package" ;;
        esac
    done <"$list"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "hearth needs these Debian 12 packages (or your system's equal):$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "hearth needs these packages; as root: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "installing:$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# sudo clears the environment, so env comes behind it. The list is meant to be split.
# shellcheck disable=SC2086
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; }
if ! { install || { $as_root apt-get update && install; }; } >"$log" 2>&1; then
    tail -20 "$log" >&2
    echo "the packages could not be installed; see above" >&2
    exit 1
fi
