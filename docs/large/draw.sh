#!/bin/sh
# Draws the stills of docs/large.md again: docs/large/draw.sh, or ORRERY=path/to/orrery docs/large/draw.sh. Needs gcc.
set -eu
cd "$(dirname "$0")/../.."
orrery=$(realpath "${ORRERY:-${CARGO_TARGET_DIR:-target}/release/orrery}")
out=$PWD/docs/large
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp docs/large/large.c "$work"
cd "$work"
"$orrery" cc -O1 -g -o large large.c
./large >/dev/null
still() {
    "$orrery" snapshot large.orrery --cache textbook --tick "$1" --tail "$2" -o "$out/$3.png"
}
still 250000.5 64 columns-64
still 250000.5 4096 columns-4096
still 700000.5 4096 rows-4096
still 1500000.5 4096 join-4096
still 1699777 1000000 all
"$orrery" stats large.orrery --cache textbook --by-line
