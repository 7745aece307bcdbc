#!/bin/sh
# Holds `orrery annotate` against `cg_annotate`: the same program, the same references (Valgrind's lackey and cachegrind, of a program
# without libraries, so that both see the same to the last one), the same single-level cache. Compares all counts, and those of each source
# line. What may differ is told by rows C1 and C5 of tests/reference/DEVIATIONS.md: a reference over two lines is one access there
# and two here; a load and store of one instruction is a read there, and a read and a write here. Ends with 1 where anything else differs.
#
#     scripts/annotate-cachegrind.sh
#
# ORRERY names another orrery than target/debug/orrery. Needs valgrind, gcc, python3.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
orrery=${ORRERY:-$here/target/debug/orrery}
valgrind=$(command -v valgrind)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/tests/reference/programs/annotated.c" "$work/"
cd "$work"
gcc -O1 -g -static -nostdlib -ffreestanding -fno-stack-protector -fno-inline -fno-tree-loop-distribute-patterns -mno-red-zone \
    annotated.c -o annotated
env -i "$valgrind" --tool=lackey --trace-mem=yes --log-file=lackey.log ./annotated
"$orrery" convert lackey.log --program annotated -o annotated.orrery 2>/dev/null

for cache in 1024,1,32 4096,4,64 2048,2,64 8192,8,128; do
    size=${cache%%,*} rest=${cache#*,}
    ways=${rest%%,*} line=${rest#*,}
    env -i "$valgrind" --tool=cachegrind --cache-sim=yes --D1="$cache" --I1="$cache" --LL=1048576,16,"$line" \
        --cachegrind-out-file=cg.out ./annotated 2>/dev/null
    cg_annotate --show=Dr,D1mr,Dw,D1mw --threshold=0 cg.out >cg.txt
    "$orrery" annotate annotated.orrery --data-only --l1 "$size,$ways,$line" --json >ours.json 2>/dev/null
    "$orrery" stats annotated.orrery --data-only --l1 "$size,$ways,$line" --json >stats.json 2>/dev/null
    "$orrery" convert annotated.orrery --to csv -o - 2>/dev/null >references.csv
    LINE=$line CACHE=$cache python3 - <<'PYTHON'
import csv, json, os, re, sys

line, cache = int(os.environ["LINE"]), os.environ["CACHE"]
ours, stats = json.load(open("ours.json")), json.load(open("stats.json"))
# Cachegrind's own file: counts by source line, of which cg_annotate's totals are the sums.
theirs, name, events = {}, "", []
for row in open("cg.out"):
    key, _, rest = row.partition(" ")
    key = key.strip()
    if key == "events:":
        events = rest.split()
    elif row.startswith("fl="):
        name = row[3:].strip()
    elif key.isdigit():
        counts = dict(zip(events, map(int, rest.split())))
        at = theirs.setdefault((os.path.basename(name), int(key)), dict.fromkeys(events, 0))
        for event, count in counts.items():
            at[event] += count
total = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) \(100\.0%\)", next(l for l in open("cg.txt") if "PROGRAM TOTALS" in l))]
modifies = straddles = 0
for row in csv.DictReader(open("references.csv")):
    if row["kind"] == "fetch":
        continue
    first, size = int(row["address"], 16), int(row["size"])
    modify = row["kind"] == "modify"
    modifies += modify
    straddles += (first // line != (first + size - 1) // line) * (2 if modify else 1)
level = stats["levels"][0]
Dr, D1mr, Dw, D1mw = total
# C5: a modify is a read and a write here. C1: each line of a straddle is an access here, and may be a miss.
assert ours["total"]["references"] == Dr + Dw, (ours["total"], total)
assert stats["trace"]["reads"] == Dr and stats["trace"]["writes"] == Dw + modifies, (stats["trace"], total)
assert level["read_accesses"] + level["write_accesses"] == Dr + Dw + modifies + straddles, (level, total)
more = ours["total"]["misses"][0] - D1mr - D1mw
wrong = [] if 0 <= more <= straddles else [("all", ours["total"], total)]
lines = 0
for file in ours["files"]:
    for row in file["lines"]:
        cg = theirs.pop((os.path.basename(file["file"]), row["line"]), dict.fromkeys(events, 0))
        there, here = cg["D1mr"] + cg["D1mw"], row["misses"][0]
        lines += 1
        if row["references"] != cg["Dr"] + cg["Dw"] or not (here == there or more and abs(here - there) <= more):
            wrong.append((row, cg))
wrong += [(key, cg) for key, cg in theirs.items() if cg["Dr"] + cg["Dw"]]
print(f"{cache}: {Dr + Dw} references, cg_annotate {D1mr + D1mw} misses, orrery {ours['total']['misses'][0]}; "
      f"{lines} source lines; {modifies} modifies (C5), {straddles} accesses more of straddles (C1), which miss {more} times more")
for found in wrong:
    print("DIFFERS", found)
sys.exit(bool(wrong))
PYTHON
done
