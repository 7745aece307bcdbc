#!/bin/sh
# Records two programs that somebody else wrote, bzip2 and SQLite, by `orrery cc`, and shows what that took and what came of it.
#
#     scripts/capture-real.sh [FOLDER]
#
# Their sources come out of two crates, pinned. FOLDER (a new temporary one otherwise) keeps all of it. ORRERY names another
# orrery than target/release/orrery. Ends with 1 where a count is not what the program must have done, or memory passes LIMIT.
set -eu

LIMIT=300000 # KB of memory resident at once, in the program, the collector and convert
here=$(cd "$(dirname "$0")/.." && pwd)
orrery=${ORRERY:-$here/target/release/orrery}
work=${1:-$(mktemp -d)}
wrong=0

for tool in cargo gcc make setarch /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "$tool is missing (Debian, Ubuntu: apt install gcc make time)" >&2; exit 1; }
done
[ -x "$orrery" ] || (cd "$here" && cargo build --release)
mkdir -p "$work" && cd "$work"
export XDG_CACHE_HOME="$work/cache"

# sources/bzip2-sys/bzip2-1.0.8 and sources/libsqlite3-sys/sqlite3
if [ ! -d sources ]; then
    mkdir -p fetch/src && : >fetch/src/lib.rs
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n' >fetch/Cargo.toml
    printf 'bzip2-sys = "=0.1.13"\nlibsqlite3-sys = { version = "=0.30.1", features = ["bundled"] }\n' >>fetch/Cargo.toml
    (cd fetch && cargo vendor --quiet ../sources >/dev/null)
fi

# The collector, timed: the recorded program starts it, so nobody else can.
cat >collector <<END
#!/bin/sh
exec /usr/bin/time -o "$work/collector.time" -f '%U %S %M' "$orrery" "\$@"
END
chmod +x collector

check() { # WHAT FOUND EXPECTED
    if [ "$2" = "$3" ]; then echo "right: $1 = $2"; else echo "WRONG: $1 = $2, expected $3"; wrong=1; fi
}

within() { # WHO KB
    if [ "$2" -gt "$LIMIT" ]; then echo "WRONG: $1 took $2 KB, more than $LIMIT"; wrong=1; fi
}

# Rows of the table of regions, `references TAB row`; names may have spaces, rows have two or more between columns.
regions() { # STATS
    awk '/^region / { on = 1; next } /^$/ { on = 0 } on { split($0, c, /  +/); n = c[2]; gsub(",", "", n); print n "\t" $0 }' "$1"
}

count() { # STATS NAME: references of a region
    regions "$1" | awk -F '\t' -v name="$2" '{ split($2, c, /  +/) } c[1] == name { print $1; exit }'
}

# NAME PLAIN CAPTURED ARGUMENTS...: runs both, converts, prints.
record() {
    name=$1 plain=$2 captured=$3
    shift 3
    rm -f "$name".* collector.time
    /usr/bin/time -o plain.time -f '%U %S %e' "$plain" "$@" >plain.out
    # -R and names of equal length: everything lies where it lay the time before.
    ORRERY_BIN=$work/collector ORRERY_OUT=$name.orrery /usr/bin/time -o run.time -f '%U %S %e %M' setarch -R "$captured" "$@" >run.out
    cmp plain.out run.out
    # Once more with nobody who collects: the spool stays, and convert does that work.
    # By time too: the shell tells a program its own path (`_`), and the stack begins behind that.
    ORRERY_BIN=$work/nocollect ORRERY_OUT=$name.byhand /usr/bin/time -o alone.time setarch -R "$captured" "$@" >run.out 2>/dev/null
    /usr/bin/time -o convert.time -f '%U %S %e %M' "$orrery" convert "$name.byhand.part" --to orrery -o "$name.byhand"
    /usr/bin/time -o din.time -f '%U %S %e %M' "$orrery" convert "$name.orrery" -o "$name.din.zst"
    "$orrery" stats "$name.orrery" --by-line --rows 0 >"$name.stats"
    references=$(awk '$2 == "references:" { gsub(",", "", $1); print $1; exit }' "$name.stats")
    echo
    echo "== $name: $references references, $(wc -c <"$name.orrery") bytes"
    awk '{ printf "program      plain     %.2f s\n", $1 + $2 }' plain.time
    awk '{ printf "program      captured  %.2f s (user %s, system %s), file whole after %s s, %s KB\n", $1 + $2, $1, $2, $3, $4 }' run.time
    awk -v n="$references" '{ printf "collector              %.2f s, %.1f M references/s of processor time, %s KB\n", $1 + $2, n / ($1 + $2 + 1e-9) / 1e6, $3 }' collector.time
    awk -v n="$references" '{ printf "convert      .part     %.2f s, %.1f M references/s by the clock, %s KB\n", $3, n / ($3 + 1e-9) / 1e6, $4 }' convert.time
    awk -v n="$references" '{ printf "convert      .din.zst  %.2f s, %.1f M references/s by the clock, %s KB\n", $3, n / ($3 + 1e-9) / 1e6, $4 }' din.time
    within program "$(awk '{ print $4 }' run.time)"
    within collector "$(awk '{ print $3 }' collector.time)"
    within "convert of the spool" "$(awk '{ print $4 }' convert.time)"
    within "convert to din" "$(awk '{ print $4 }' din.time)"
    echo "-- regions referred to most"
    awk '/^region / { print; exit }' "$name.stats"
    regions "$name.stats" | sort -k1,1nr -s | cut -f2- | sed 14q
    echo "-- lines that miss most"
    awk '/^source line/ { on = 1 } on' "$name.stats" | sed -E 's/ {20,}/  /' | head -11
    "$orrery" stats "$name.byhand" --by-line --rows 0 >"$name.byhand.stats"
    check "$name: lines of stats that differ between what the collector and what convert made" \
        "$(diff "$name.stats" "$name.byhand.stats" | grep -c '^[<>]')" 0
}

flags='-g -O1 -w'
echo "orrery: $("$orrery" --version); gcc: $(gcc -dumpversion); $(nproc) processors"

for way in plain captured; do
    [ -x "bzip2-$way/bzip2" ] && continue
    rm -rf "bzip2-$way" && cp -r sources/bzip2-sys/bzip2-1.0.8 "bzip2-$way"
    compiler=gcc
    [ $way = captured ] && compiler="$orrery cc"
    make -s -C "bzip2-$way" CC="$compiler" CFLAGS="$flags -D_FILE_OFFSET_BITS=64" bzip2 >/dev/null
done
(cd sources/bzip2-sys/bzip2-1.0.8 && cat ./*.c ./*.h manual.xml manual.html bzip2.txt) >sample
record bzip2 bzip2-plain/bzip2 bzip2-captured/bzip2 -kc sample
# One look into the table for each byte of input.
check "bzip2: references to BZ2_crc32Table" "$(count bzip2.stats BZ2_crc32Table)" "$(wc -c <sample)"
check "bzip2: 50 M references or more" "$([ "$references" -ge 50000000 ] && echo yes)" yes

orders=25000
options='-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -Isources/libsqlite3-sys/sqlite3'
source="$here/tests/programs/capture_shop.c sources/libsqlite3-sys/sqlite3/sqlite3.c"
# shellcheck disable=SC2086
{
    [ -x shop-plain ] || gcc $flags $options $source -lm -o shop-plain
    [ -x shop-captured ] || "$orrery" cc $flags $options $source -lm -o shop-captured
}
record shop ./shop-plain ./shop-captured $orders
# next() reads and writes it, three times an order.
check "shop: references to seed" "$(count shop.stats seed)" $((orders * 3 * 2))
check "shop: 50 M references or more" "$([ "$references" -ge 50000000 ] && echo yes)" yes
exit $wrong
