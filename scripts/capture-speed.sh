#!/bin/sh
# How fast recording and counting are, beside cachegrind, on three programs of 7 to 10 million references.
#
#     scripts/capture-speed.sh [FOLDER]
#
# Each program is built by gcc and by `orrery cc` (-O1 -g). Then, in turns, ROUNDS times (default 5): the plain program; the recorded
# one, until its file is whole; `orrery stats --by-line` (L1 32 KiB, last level 1 MiB, 64-byte lines); `orrery run --stats` less
# compiling; cachegrind with the same caches. The least time of each counts, by the clock, and their ratio; `all` is the ratio of
# the times of all rounds, for machines whose speed changes from round to round. The line below has the
# processor's time of all processes. ORRERY names another orrery than target/release/orrery, PROGRAMS other programs (C files).
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
orrery=${ORRERY:-$here/target/release/orrery}
rounds=${ROUNDS:-5}
programs=${PROGRAMS:-"$here/tests/programs/speed_multiply.c $here/tests/programs/speed_join.c $here/tests/programs/speed_sort.c"}
work=${1:-$(mktemp -d)}

for tool in gcc valgrind /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "$tool is missing (Debian, Ubuntu: apt install gcc valgrind time)" >&2; exit 1; }
done
[ -x "$orrery" ] || (cd "$here" && cargo build --release)
mkdir -p "$work" && cd "$work"
export XDG_CACHE_HOME="$work/cache"
[ -n "${1:-}" ] || trap 'rm -rf "$work"' EXIT

# The collector, timed: the recorded program starts it, so nobody else can.
printf '#!/bin/sh\nexec /usr/bin/time -o "%s/collector.time" -f "%%e %%U %%S" "%s" "$@"\n' "$work" "$orrery" >collector
chmod +x collector

# STAGE COMMAND...: appends `clock processor` to STAGE.times.
timed() {
    stage=$1
    shift
    /usr/bin/time -o one.time -f '%e %U %S' "$@" >"$stage.out" 2>"$stage.err" || { cat "$stage.err" >&2; exit 1; }
    awk '{ print $1, $2 + $3 }' one.time >>"$stage.times"
}

total() { awk '{ sum += $1 } END { print sum }' "$@"; }
least() { sort -n "$1.times" | awk 'NR == 1 { print $1 }'; }
processor() { sort -k2,2n "$1.times" | awk 'NR == 1 { print $2 }'; }

caches='--l1 32KiB,8,64 --l2 1MiB,16,64'
echo "$("$orrery" --version); $(valgrind --version); gcc $(gcc -dumpversion); $(nproc) processors; load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-16s %10s %7s %9s %8s %7s %9s %11s %7s %6s\n' program references plain recorded M/s stats together cachegrind ratio all
for source in $programs; do
    name=$(basename "$source" .c)
    gcc -O1 -g "$source" -o "$name.plain" -lm
    "$orrery" cc -O1 -g "$source" -o "$name.recorded" -lm
    rm -f ./*.times
    round=0
    while [ "$round" -lt "$rounds" ]; do
        rm -f "$name.orrery"
        timed plain "./$name.plain"
        timed whole env ORRERY_BIN="$work/collector" ORRERY_OUT="$work/$name.orrery" "./$name.recorded"
        # The program waits for what waits for the collector, so its processor's time has the collector's in it.
        awk '{ print $1, $2 + $3 }' collector.time >>collector.times
        # shellcheck disable=SC2086
        timed stats "$orrery" stats "$name.orrery" --by-line $caches
        timed cachegrind valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64 \
            --cachegrind-out-file=cachegrind.out "./$name.plain"
        cmp -s plain.out whole.out || { echo "$name: the recorded program printed something else" >&2; exit 1; }
        round=$((round + 1))
    done
    references=$(awk '$2 == "references:" { gsub(",", "", $1); print $1; exit }' stats.out)
    awk -v name="$name" -v n="$references" -v plain="$(least plain)" -v whole="$(least whole)" -v stats="$(least stats)" \
        -v cg="$(least cachegrind)" -v ours="$(total whole.times stats.times)" -v theirs="$(total cachegrind.times)" 'BEGIN {
            printf "%-16s %10d %6.2fs %8.2fs %8.1f %6.2fs %8.2fs %10.2fs %7.2f %6.2f\n",
                name, n, plain, whole, n / (whole + 1e-9) / 1e6, stats, whole + stats, cg, (whole + stats) / (cg + 1e-9),
                ours / (theirs + 1e-9)
        }'
    awk -v plain="$(processor plain)" -v both="$(processor whole)" -v coll="$(processor collector)" -v stats="$(processor stats)" \
        -v cg="$(processor cachegrind)" 'BEGIN {
            printf "  processor: plain %.2f s, recorded %.2f s, collector %.2f s, stats %.2f s; together %.2f s; cachegrind %.2f s\n",
                plain, both - coll, coll, stats, both + stats, cg
        }'
done
