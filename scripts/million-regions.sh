#!/bin/sh
# What traces with a million regions take: peak memory and time of the commands that read them, for a trace of which 20,000 regions
# are touched and for one of which all are. Ends with 1 where a command fails or takes more than MOST megabytes (500).
#
#     scripts/million-regions.sh [FOLDER]
#
# ORRERY names another orrery than target/release/orrery. Needs python3 and GNU time.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
orrery=${ORRERY:-$here/target/release/orrery}
most=${MOST:-500}
work=${1:-$(mktemp -d)}
[ -x "$orrery" ] || (cd "$here" && cargo build --release)
[ -n "${1:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work" && cd "$work"
export XDG_CACHE_HOME="$work/cache"

python3 - <<'PYTHON'
import json, random

REGIONS = 1_000_000

def write(name, seed, references, touched, stride):
    regions = [{"name": f"r{n}", "base": 0x100000 + 64 * n, "bytes": 64, "elem_bytes": 8} for n in range(REGIONS)]
    with open(f"{name}.json", "w") as f:
        json.dump({"title": name, "regions": regions}, f)
    draw = random.Random(seed)
    with open(f"{name}.csv", "w") as f:
        f.write("kind,address,size\n")
        for i in range(references):
            region = (i * stride + draw.randrange(3)) % touched * 97 % REGIONS
            f.write(f"{'rw'[i % 5 == 0]},{0x100000 + 64 * region + 8 * (i % 8)},8\n")

write("few", 1, 2_000_000, 20_000, 1)
write("other", 2, 2_000_000, 20_000, 7)
write("all", 3, 4_000_000, REGIONS, 64)
PYTHON

wrong=0
# NAME COMMAND...: one line of the table.
one() {
    name=$1
    shift
    rm -rf "$XDG_CACHE_HOME"
    code=0
    /usr/bin/time -o time -f '%M %e' "$orrery" "$@" >out 2>err || code=$?
    verdict=$(tail -1 time | awk -v most="$most" -v code="$code" '{ print (code != 0) ? "FAILED" : ($1 / 1000 > most) ? "TOO MUCH" : "" }')
    tail -1 time | awk -v name="$name" -v verdict="$verdict" '{ printf "%-16s %5d MB %6.1f s  %s\n", name, $1 / 1000, $2, verdict }'
    [ -z "$verdict" ] || { wrong=1; head -3 err >&2; }
}

for trace in few other all; do one "convert $trace" convert $trace.csv --tables $trace.json -o $trace.orrery; done
for trace in few all; do
    one "stats $trace" stats $trace.orrery
    one "stats --json $trace" stats $trace.orrery --json
    one "analyze $trace" analyze $trace.orrery
    one "advise $trace" advise $trace.orrery
    one "report $trace" report $trace.orrery -o report.html
    one "snapshot $trace" snapshot $trace.orrery -o still.png
    one "why $trace" why $trace.orrery 1000
done
one 'compare' compare few.orrery other.orrery
one 'compare --json' compare few.orrery other.orrery --json
exit $wrong
