#!/bin/sh
# Draws the stills of docs/lapse.md again: docs/lapse/draw.sh, or ORRERY=path/to/orrery docs/lapse/draw.sh. Needs gcc.
set -eu
cd "$(dirname "$0")/../.."
orrery=$(realpath "${ORRERY:-${CARGO_TARGET_DIR:-target}/release/orrery}")
out=$PWD/docs/lapse
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp docs/lapse/phases.c "$work"
cd "$work"
"$orrery" cc -O1 -o phases phases.c
./phases >/dev/null
for tail in 1 16 4096 1000000; do
    "$orrery" snapshot phases.orrery --view dots --size 960x540 --tick 5000000.5 --tail $tail -o "$out/x$tail.png"
done
"$orrery" snapshot phases.orrery --view dots --size 960x540 --tick 9500000.5 --tail 1000000 -o "$out/blocks.png"
