#!/bin/sh
# Draws the stills of README.md and docs again: docs/draw.sh, or ORRERY=path/to/orrery docs/draw.sh. Needs gcc and
# valgrind; docs/large/draw.sh says what else.
set -eu
cd "$(dirname "$0")/.."
ORRERY=$(realpath "${ORRERY:-${CARGO_TARGET_DIR:-target}/release/orrery}")
export ORRERY
"$ORRERY" snapshot traces/matmul16.orrery --tick 2700.5 -o docs/matmul16.png
"$ORRERY" snapshot traces/matmul16_blocked.orrery --tick 5150.5 -o docs/matmul16_blocked.png
"$ORRERY" snapshot traces/mpm.orrery --tick 20000.5 -o docs/mpm.png
"$ORRERY" snapshot loops:matmul --view tiles --tick 2034 --sort misses --pin 'B[3][7]' -o docs/tiles.png
"$ORRERY" snapshot loops:jacobi --view graph --tick 140 --size 1280x720 -o docs/graph.png
for step in hdiff hdiff_layout hdiff_order hdiff_padded hdiff_arrays; do
	"$ORRERY" snapshot loops:$step --view tiles --l1 640B,full,64 --tick 4800 --sort misses -o docs/$step.png
done
"$ORRERY" snapshot loops:hdiff --view tiles --l1 640B,full,64 --tick 2234 --pin 'in_field[5][6][3]' -o docs/hdiff_pattern.png
"$ORRERY" snapshot loops:gauss --view plane --at 688 --size 960x540 -o docs/solids/spheres.png
"$ORRERY" snapshot 'loops:gauss?N=16' --view plane --at 4832 --size 960x540 -o docs/solids/towers.png
"$ORRERY" snapshot 'loops:gauss?N=64' --view plane --at 274304 --size 960x540 -o docs/solids/sheet.png
"$ORRERY" snapshot loops:gauss --view tube --at 688 --slice 0..64 --size 960x540 -o docs/solids/tube.png
"$ORRERY" snapshot loops:gauss --view scatter --at 400 --size 960x540 -o docs/solids/scatter.png
"$ORRERY" snapshot loops:stencil --view iso --at 30000 --size 960x540 -o docs/solids/iso.png
"$ORRERY" record docs/solids/tube.story.toml -o docs/solids/tube.gif
"$ORRERY" kernel kernel:reduce-strided --bank 0 -o docs/kernel-strided.png
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ORRERY" kernel kernel:sobel --units 46 -o "$work/sobel.orrery"
"$ORRERY" snapshot "$work/sobel.orrery" --cache docs/caches/rtx3070.toml --tick 2300 -o docs/kernel-rings.png
docs/caches/draw.sh
docs/lapse/draw.sh
docs/large/draw.sh
