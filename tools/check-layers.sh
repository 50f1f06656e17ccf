#!/bin/sh
# Checks that #include lines obey src/LAYERS, that every include of ours carries its room, and that file stems are
# unique in the tree. Prints each break and exits 1.
set -eu
cd "$(dirname "$0")/.."
bad=0

complain() {
    echo "$*" >&2
    bad=1
}

# shellcheck disable=SC2013  # words are what is wanted
for room in $(sed -n 's/^\([a-z]*\):.*/\1/p' src/LAYERS); do
    allowed=" $room $(sed -n "s/^$room: *//p" src/LAYERS) "
    for file in src/"$room"/*.[ch]; do
        [ -e "$file" ] || continue
        # shellcheck disable=SC2013
        for included in $(sed -n 's/^ *# *include "\([^"]*\)".*/\1/p' "$file"); do
            case $included in
            */*) ;;
            *) complain "$file: #include \"$included\" lacks its room" && continue ;;
            esac
            case $allowed in
            *" ${included%%/*} "*) ;;
            *) complain "$file: room '$room' may not include \"$included\" (see src/LAYERS)" ;;
            esac
            case $included in
            *_internal.h) [ "${included%%/*}" = "$room" ] || complain "$file: \"$included\" is private to its room" ;;
            esac
        done
    done
done

for room in src/*/; do
    grep -q "^$(basename "$room"):" src/LAYERS || complain "$room is not in src/LAYERS"
done
twice=$(find src \( -name '*.c' -o -name '*.h' \) ! -name '*_test.c' | sed 's|\.[ch]$||' | sort -u | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || complain "file stems used by two rooms: $twice"
exit $bad
