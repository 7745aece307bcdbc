#!/bin/sh
# Counts of `orrery stats` over a part of a trace, under caches that were warmed by all that came before it:
#
#     docs/large/numbers.sh TRACE FROM TO [FLAGS OF orrery stats]
#
# Stats of the first TO references less stats of the first FROM: what the tables of a picture at --tick TO --tail TO-FROM say.
# References to a region that hit or missed, largest first; ORRERY names another orrery than target/release/orrery.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
orrery=$(realpath "${ORRERY:-${CARGO_TARGET_DIR:-$here/target}/release/orrery}")
[ $# -ge 3 ] || { sed -n '4p' "$0" >&2; exit 2; }
trace=$1 from=$2 to=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for end in "$from" "$to"; do
    "$orrery" convert "$trace" -o "$work/$end.orrery" --range "..$end" 2>/dev/null
    "$orrery" stats "$work/$end.orrery" "$@" >"$work/$end"
done
# `level` and `region` begin a table; its names may have spaces, its columns have two or more between.
awk -F '  +' '
    { gsub(",", "") }
    FNR == 1 { part++; table = "" }
    $1 == "level" || $1 == "region" { table = $1; next }
    /^$/ || /^memory/ { table = "" }
    table == "level" && NF > 6 { asked[$1] += part == 1 ? -$2 : $2; failed[$1] += part == 1 ? -$3 : $3; if (part == 2) order[++levels] = $1 }
    table == "region" { uses[$1] += part == 1 ? -$2 : $2; missed[$1] += part == 1 ? -$3 : $3 }
    END {
        for (n = 1; n <= levels; n++) {
            l = order[n]
            printf "%10d asked %10d missed  hit rate %5.1f %%  %s\n", asked[l], failed[l], asked[l] ? 100 * (1 - failed[l] / asked[l]) : 0, l
        }
        fflush()
        for (r in uses)
            if (uses[r] > 0) printf "%10d refs  %10d missed L1   %5.1f %%  %s\n", uses[r], missed[r], 100 * missed[r] / uses[r], r | "sort -nr"
    }' "$work/$from" "$work/$to"
