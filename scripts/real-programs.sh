#!/bin/sh
# Records three programs (a hash join, bzip2, SQLite) and writes a report of each, with what a mended variant changes.
#
#     real-programs.sh [FOLDER]
#
# FOLDER (a new temporary one otherwise) keeps sources, programs, traces and pages; what is there already is not made again.
# ORRERY names another orrery than the one in PATH. Needs gcc, curl, setarch; 700 MB of disk. Ends with 1 where a program's
# output is wrong, or where a figure that docs/real-programs.md tells does not come out.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
programs=${PROGRAMS:-$here/real-programs}
orrery=${ORRERY:-$(command -v orrery || true)}
work=${1:-$(mktemp -d)}
wrong=0

fail() { echo "real-programs.sh: $*" >&2; exit 1; }

for tool in gcc curl tar setarch sha256sum cmp awk; do
    command -v "$tool" >/dev/null || fail "$tool is missing (Debian, Ubuntu: apt install gcc curl tar util-linux coreutils)"
done
[ -n "$orrery" ] && [ -x "$orrery" ] || fail "no orrery: put it into PATH, or set ORRERY=/path/to/orrery"
for file in join.c shop.c; do [ -f "$programs/$file" ] || fail "$programs/$file is missing; PROGRAMS names the folder that has it"; done
mkdir -p "$work" && cd "$work" || fail "cannot write to $work"
export ORRERY_BIN="$orrery"
echo "in $work, with $("$orrery" --version)"

crate() { # NAME VERSION SHA256: unpacks it into NAME
    [ -d "$1" ] && return
    curl -sSfL "https://static.crates.io/crates/$1/$1-$2.crate" -o "$1.crate" || fail "cannot fetch $1 $2 from static.crates.io"
    echo "$3  $1.crate" | sha256sum -c - >/dev/null || fail "$1.crate is not the file that it was ($3)"
    rm -rf "$1.part" && mkdir "$1.part" && tar xzf "$1.crate" -C "$1.part" --strip-components 1 && mv "$1.part" "$1"
}

record() { # TRACE OUTPUT COMMAND...: runs a program that records itself; addresses are the same each time (setarch -R)
    trace=$1 output=$2
    shift 2
    [ -f "$trace.orrery" ] && [ -f "$output" ] && return
    echo "records $trace"
    rm -f "$trace.orrery" "$trace.orrery.part"
    ORRERY_OUT="$trace.orrery" setarch -R "$@" >"$output.new" || fail "$* ended with $?"
    [ -f "$trace.orrery" ] || fail "$* left no $trace.orrery"
    mv "$output.new" "$output"
}

same() { # WHAT FILE FILE
    if cmp -s "$2" "$3"; then echo "right: $1"; else echo "WRONG: $1: $2 and $3 differ"; wrong=1; fi
}

page() { # TRACE
    [ -f "$1.html" ] || { echo "reports $1"; "$orrery" report "$1.orrery" -o "$1.html"; }
}

# A figure of a trace: `figure A B TABLE NAME COUNTER` prints both values.
figure() {
    [ -f "$1-$2.csv" ] || "$orrery" compare "$1.orrery" "$2.orrery" --csv >"$1-$2.csv"
    awk -F, -v t="$3" -v n="$4" -v c="$5" '$1 == t && $2 == n && $3 == c { print $4, $5; found = 1 } END { if (!found) exit 1 }' \
        "$1-$2.csv" || fail "$1-$2.csv has no $3 $4 $5"
}

fewer() { # WHAT LEAST_PERCENT BEFORE AFTER
    if [ $(($4 * 100)) -le $(($3 * (100 - $2))) ]; then echo "right: $1: $3 became $4"; else echo "WRONG: $1: $3 became $4"; wrong=1; fi
}

# 1. The hash join.
[ -x join ] || "$orrery" cc -O1 "$programs/join.c" -o join
record join-none join-none.out ./join 19 0
record join-one-pass join-one-pass.out ./join 19 10
record join-one-pass-padded join-one-pass-padded.out ./join 19 10 0 24
record join-two-passes join-two-passes.out ./join 19 5 5
for way in one-pass one-pass-padded two-passes; do same "join $way finds what join-none finds" join-none.out "join-$way.out"; done

# 2. bzip2: packs its own manual, unpacks another one.
crate bzip2-sys 0.1.11+1.0.8 736a955f3fa7875102d57c82b8cac37ec45224a07fd32d58f9f7a186b6cd4cdc
if [ ! -x bzip2 ]; then
    (cd bzip2-sys/bzip2-1.0.8 && "$orrery" cc -O1 -w -D_FILE_OFFSET_BITS=64 blocksort.c huffman.c crctable.c randtable.c compress.c \
        decompress.c bzlib.c bzip2.c -o ../../bzip2)
fi
[ -f page ] || cp bzip2-sys/bzip2-1.0.8/manual.html page
[ -f manual ] || head -c 600000 bzip2-sys/bzip2-1.0.8/manual.ps >manual
[ -f manual.bz2 ] || ORRERY_OUT=unused.orrery ./bzip2 -9 -c manual >manual.bz2
rm -f unused.orrery
record bzip2-pack page.bz2 ./bzip2 -9 -c page
record bzip2-unpack manual.out ./bzip2 -d -c manual.bz2
record bzip2-unpack-small manual-small.out ./bzip2 -d -s -c manual.bz2
same "bzip2 gives back what it packed" manual manual.out
same "bzip2 -s gives back what it packed" manual manual-small.out

# 3. SQLite.
crate libsqlite3-sys 0.35.0 133c182a6a2c87864fe97778797e46c7e999672690dc9fa3ee8e241aa4a9c13f
if [ ! -x shop ]; then
    "$orrery" cc -O1 -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -Ilibsqlite3-sys/sqlite3 "$programs/shop.c" \
        libsqlite3-sys/sqlite3/sqlite3.c -o shop -lm
fi
record sqlite-plain sqlite-plain.out ./shop plain
record sqlite-covering sqlite-covering.out ./shop covering
same "both indexes give the same sum" sqlite-plain.out sqlite-covering.out

for trace in join-none join-one-pass join-two-passes bzip2-pack bzip2-unpack sqlite-plain; do page "$trace"; done

# What docs/real-programs.md tells.
fewer "join, all L2 misses, none to one pass" 50 $(figure join-none join-one-pass level L2 demand_misses)
fewer "join, L1 misses of bucket, none to one pass" 99 $(figure join-none join-one-pass region bucket "L1 misses")
fewer "join, all L1 misses, one pass to two" 15 $(figure join-one-pass join-two-passes level L1 demand_misses)
fewer "join, conflict misses of L2, 3 lines of padding" 90 $(figure join-one-pass join-one-pass-padded level L2 conflict)
set -- $(figure bzip2-unpack bzip2-unpack-small level L1 demand_misses)
fewer "bzip2, L1 misses, two arrays (-s) to one" 60 "$2" "$1"
fewer "SQLite, all L1 misses, plain to covering index" 80 $(figure sqlite-plain sqlite-covering level L1 demand_misses)
exit $wrong
