"""Runs the cells of a sweep on a cluster of Dask: `orrery sweep ... --into FOLDER --plan | python3 sweep_dask.py`.

Each cell is a process of its own, which keeps its result in FOLDER, whole or not at all. A worker that dies is replaced, and Dask gives
its cells to others. `python3 sweep_dask.py tcp://scheduler:8786` uses a cluster that is there; all must see the trace and the folder.
"""

import json
import subprocess
import sys

from dask.distributed import Client, LocalCluster, as_completed


def count(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return command


if __name__ == "__main__":
    commands = [json.loads(line)["command"] for line in sys.stdin]
    where = sys.argv[1] if len(sys.argv) > 1 else LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(where) as client:
        cells = [client.submit(count, command, pure=False, retries=3) for command in commands]
        for done, _ in enumerate(as_completed(cells, raise_errors=True), 1):
            print(f"{done} of {len(cells)} cells", file=sys.stderr, flush=True)
        client.gather(cells)
