"""Writes the same 200 references as tables of several tools: python3 make_tables.py FOLDER

Needs pyarrow, pandas, polars, duckdb and fastparquet; README.md says which versions made the files that are kept here.
Row i: address 0x7ffe00001000 + 8 i (i % 4 = 3: above 2^63), size 1 << i % 4, kind i % 3 (read, write, fetch), pc 0x401000 + 4 (i % 10),
thread 4711 + i // 50.
"""

import sys

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

folder = sys.argv[1]
N = 200


def address(i):
    return 0x7FFE00001000 + 8 * i + (0xFFFF_0000_0000_0000 if i % 4 == 3 else 0)


addresses = [address(i) for i in range(N)]
sizes = [1 << i % 4 for i in range(N)]
words = [["load", "store", "ifetch"][i % 3] for i in range(N)]
pcs = [0x401000 + 4 * (i % 10) for i in range(N)]
threads = [4711 + i // 50 for i in range(N)]

# Defaults of each tool: snappy, dictionaries, 64-bit integers.
frame = pd.DataFrame({"Addr": np.array(addresses, "uint64"), "size": sizes, "op": words, "ip": pcs, "tid": threads})
frame.to_parquet(f"{folder}/pandas.parquet", index=False)
frame.astype({"op": "category", "size": "float64"}).to_feather(f"{folder}/pandas.feather")
fastparquet.write(f"{folder}/fastparquet.parquet", frame, compression="GZIP")

table = pa.table({
    "address": pa.array([hex(a) for a in addresses]),
    "bytes": pa.array(sizes, pa.uint8()),
    "rw": pa.array(["RWI"[i % 3] for i in range(N)]).dictionary_encode(),
    "pc": pa.array(pcs, pa.uint32()),
    "thread": pa.array(threads, pa.int32()),
    "note": pa.array([[i] for i in range(N)]),
})
pq.write_table(table, f"{folder}/pyarrow.parquet", compression="lz4", row_group_size=64, data_page_version="2.0")
with pa.OSFile(f"{folder}/pyarrow.arrows", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
    for batch in table.to_batches(max_chunksize=64):
        out.write_batch(batch)

lazy = pl.DataFrame({"addr": addresses, "size": sizes, "type": words, "pc": pcs, "tid": threads},
                    schema_overrides={"addr": pl.UInt64, "size": pl.UInt16})
lazy.write_parquet(f"{folder}/polars.parquet", row_group_size=70)
lazy.write_ipc(f"{folder}/polars.arrow", compression="zstd")

duckdb.sql("select address::ubigint as address, size::utinyint as size, op as type, pc::uinteger as pc, "
           "tid as thread_id from (select unnest($1) as address, unnest($2) as size, unnest($3) as op, unnest($4) as pc, "
           "unnest($5) as tid)", params=[addresses, sizes, words, pcs, threads]).write_parquet(f"{folder}/duckdb.parquet")

for module in (pa, pd, pl, duckdb, fastparquet):
    print(module.__name__, module.__version__)
