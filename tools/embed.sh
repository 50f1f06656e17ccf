#!/bin/sh
# Makes what src/page/assets.c embeds: OUT/page/files.h has a row for each file below FOLDER, and OUT holds them compressed.
# The same files give the same bytes, whenever and wherever it runs.
#
#   tools/embed.sh FOLDER OUT
set -eu
export LC_ALL=C
folder=$1 out=$2
rm -rf "$out"
mkdir -p "$out/page"

type_of() {
    case $1 in
    *.html) echo 'text/html; charset=utf-8' ;;
    *.js) echo 'text/javascript; charset=utf-8' ;;
    *.css) echo 'text/css; charset=utf-8' ;;
    *.svg) echo 'image/svg+xml' ;;
    *.png) echo 'image/png' ;;
    *.woff2) echo 'font/woff2' ;;
    *.txt) echo 'text/plain; charset=utf-8' ;;
    *) echo "embed: no content type for '$1' is known; add one" >&2 && return 1 ;;
    esac
}
is_immutable() { # build.mjs puts 12 digits of a hash into the names
    case ${1##*/} in
    *-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f].*) echo true ;;
    *) echo false ;;
    esac
}
size_of() { wc -c <"$1"; }

(cd "$folder" && find . -type f | sort) >"$out/names"
[ -s "$out/names" ] || { echo "embed: nothing to embed in $folder" >&2 && exit 1; }
number=0
while read -r name; do
    name=${name#./}
    file=$folder/$name packed=$out/$number.gz
    gzip -9nc "$file" >"$packed"
    # What a server never gives, or what hardly shrinks, is not embedded twice.
    if [ "$name" = offline.html ] || [ "$(size_of "$packed")" -ge "$(size_of "$file")" ]; then : >"$packed"; fi
    type=$(type_of "$name")
    printf 'PAGE_FILE(%d, "/%s", "%s", "%s", %s, "%s", %d, "%s", %d)\n' "$number" "$name" "$type" \
        "$(sha256sum "$file" | cut -c 1-32)" "$(is_immutable "$name")" \
        "$file" "$(size_of "$file")" "$packed" "$(size_of "$packed")"
    number=$((number + 1))
done <"$out/names" >"$out/files"
mv "$out/files" "$out/page/files.h"
