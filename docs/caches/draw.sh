#!/bin/sh
# Draws the stills of docs/caches.md again: docs/caches/draw.sh, or ORRERY=path/to/orrery docs/caches/draw.sh
set -eu
cd "$(dirname "$0")/../.."
orrery=${ORRERY:-${CARGO_TARGET_DIR:-target}/release/orrery}
draw() {
    name=$1 trace=$2 tick=$3
    "$orrery" snapshot "$trace" --cache "docs/caches/$name.toml" --tick "$tick" --tail "${4:-64}" -o "docs/caches/$name.png"
}
draw inclusive traces/matmul16.orrery 1599.55 24
draw exclusive traces/matmul16.orrery 1509.55 24
draw cores traces/false_sharing.orrery 601.5
draw prefetch traces/mpm.orrery 3000.5 24

# The split first level wants instruction fetches, which the bundled traces leave out: the same program recorded whole.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(
    cd traces
    gcc -g -O1 -std=c11 -ffile-prefix-map="$PWD"=. -no-pie -Wl,--section-start=orrery_memory=0x10000000 \
        -o "$work/matmul16" programs/matmul16.c -lm
)
ORRERY_TABLES="$work/tables.json" valgrind --quiet --tool=lackey --trace-mem=yes --log-file="$work/log" "$work/matmul16"
"$orrery" convert "$work/log" -o "$work/whole.orrery" --tables "$work/tables.json" --program "$work/matmul16"
draw split "$work/whole.orrery" 12000.5
