#!/usr/bin/env bash
# Sweeps on a real engine, Dask from PyPI, and kills a worker in the middle: nothing may be lost.
#
#   scripts/sweep-dask.sh [FOLDER]
#
# ORRERY is the program (target/release/orrery). FOLDER keeps the virtual environment and the results (a new one in /tmp). The cells that
# the cluster counted, joined, must be those of one sweep.
set -euo pipefail
cd "$(dirname "$0")/.."
orrery=$(realpath "${ORRERY:-target/release/orrery}")
folder=${1:-$(mktemp -d /tmp/sweep-dask.XXXXXX)}
mkdir -p "$folder"
here=$PWD
cd "$folder"

if ! [ -x venv/bin/python3 ]; then
  python3 -m venv venv
  venv/bin/pip install -q --disable-pip-version-check 'dask[distributed]'
fi
venv/bin/python3 -c 'import dask; print("Dask", dask.__version__)'

# A trace that takes a cell some tenths of a second.
[ -e t.orrery ] || python3 - <<'PYTHON' | "$orrery" convert - --format lackey -o t.orrery
import random
random.seed(7)
for n in range(2_000_000):
    address = 8 * n if n % 3 else 64 * int(random.paretovariate(0.7)) % (1 << 24)
    print(f" {'S' if n % 5 == 0 else 'L'} {0x1000000 + address:x},8")
PYTHON

rm -rf results
sweep=(sweep t.orrery --l1 '32KiB,8,64' --l2 '1MiB,16,64' --vary 'L1.size=4KiB..512KiB' --vary 'L1.ways=1,2,4,8')
# Where the engine finds `orrery`.
mkdir -p bin && ln -sf "$orrery" bin/orrery
export PATH=$folder/bin:$PATH
orrery "${sweep[@]}" --into results --plan > plan.jsonl
cells=$(wc -l < plan.jsonl)

venv/bin/python3 "$here/scripts/sweep_dask.py" < plan.jsonl 2> dask.log &
engine=$!
# Until some cells are there, then a worker dies with what it counts.
until [ "$(find results -name '*.cells.json' | wc -l)" -ge 4 ]; do
  kill -0 $engine || { cat dask.log; exit 1; }
  sleep 0.1
done
# Workers are the children that multiprocessing made.
worker=$(pgrep -P $engine -f 'multiprocessing.*spawn' | head -1)
[ -n "$worker" ] || { echo "found no worker of Dask to kill" >&2; exit 1; }
counting=$(pgrep -P "$worker" -x orrery || true)
kill -9 "$worker" ${counting:+$counting}
echo "killed worker $worker${counting:+, which counted a cell,} after $(find results -name '*.cells.json' | wc -l) of $cells cells"
wait $engine || { cat dask.log; exit 1; }

orrery sweep --merge results --json > joined.json
orrery "${sweep[@]}" --json > whole.json
cmp joined.json whole.json
echo "$cells cells counted by Dask with a worker killed = one sweep"
