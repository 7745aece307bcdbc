#!/bin/sh
# Draws the pictures of docs/large.md again, and prints the numbers that its sentences give:
#
#     docs/large/draw.sh [FOLDER]
#
# FOLDER is what scripts/capture-real.sh filled; without it that script runs first, in a temporary folder (2 GB, a few minutes).
# ORRERY names another orrery than target/release/orrery. Needs gcc, and what that script needs. With ffmpeg the pictures get 256
# colours, which nobody sees, and a quarter of the size.
set -eu
folder=${1:+$(realpath "$1")}
cd "$(dirname "$0")/../.."
here=$PWD
ORRERY=$(realpath "${ORRERY:-${CARGO_TARGET_DIR:-target}/release/orrery}")
export ORRERY
out=$here/docs/large
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$folder" ]; then
    folder=$work/real
    scripts/capture-real.sh "$folder" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
fi
cp docs/large/large.c "$work"
cd "$work"
"$ORRERY" cc -O1 -g -o large large.c
# Everything lies where it lay the time before: no random addresses (-R), and no block beside the mappings of the recorder.
MALLOC_MMAP_THRESHOLD_=10000000 setarch -R ./large >/dev/null
bzip2=$folder/bzip2.orrery sqlite=$folder/shop.orrery

# TRACE FROM TO CACHES: what the tables of a picture at reference TO with a trail of TO - FROM say, the most used regions first.
part() {
    "$ORRERY" stats "$1" --range "$2..$3" --cache "$4" --by-line >"$work/part"
    sed -n '/^level/,/^memory/p' "$work/part"
    grep '^region' "$work/part"
    sed -n '/^region/,/^$/p' "$work/part" | sed '1d; /^$/d; s/,//g; s/   */\t/g' | sort -t "$(printf '\t')" -k 2,2 -n -r | head -8
}

# NAME TRACE CACHES TICK TRAIL FLAGS...: the picture, and the numbers of its tables by `orrery stats`.
still() {
    name=$1 trace=$2 caches=$3 tick=$4 trail=$5
    shift 5
    "$ORRERY" snapshot "$trace" --cache "$caches" --tick "$tick" --tail "$trail" -o "$out/$name.png" "$@"
    if command -v ffmpeg >/dev/null; then
        ffmpeg -v error -y -i "$out/$name.png" -vf 'split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none' "$work/few.png"
        mv "$work/few.png" "$out/$name.png"
    fi
    echo "== $name"
    part "$trace" $((${tick%.5} - trail)) "${tick%.5}" "$caches"
}
still columns-64 large.orrery textbook 250000.5 64
still columns-4096 large.orrery textbook 250000.5 4096
still columns-server large.orrery skylake-sp 250000.5 4096
still rows-4096 large.orrery textbook 700000.5 4096
still join-4096 large.orrery textbook 1500000.5 4096
still join-small large.orrery textbook 1500000.5 64 --size 640x360
still all large.orrery textbook 1699776.5 1000000
title='bzip2 packs its own sources'
still bzip2-table "$bzip2" textbook 15399980.5 64 --title "$title"
still bzip2-table-server "$bzip2" skylake-sp 15399980.5 64 --title "$title"
still bzip2-sort "$bzip2" textbook 40000000.5 1000000 --title "$title"
title='SQLite: a table of 25,000 orders'
still sqlite-insert "$sqlite" skylake-sp 20000000.5 1000000 --title "$title"
still sqlite-sort "$sqlite" textbook 51000000.5 4096 --title "$title"

"$ORRERY" record large.orrery --cache textbook --title 'By columns, then by rows' --start-ref 582000 --stop-ref 630000 --seconds 12 -r 10 \
    --size 640x360 --tail 4096 -o "$out/loops.gif"
echo "== loops: by columns, by rows"
part large.orrery 582000 606000 textbook
part large.orrery 610000 630000 textbook
"$ORRERY" stats large.orrery --cache textbook --by-line
