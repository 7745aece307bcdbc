"""Writes dataflow graphs with the DaCe that is installed, and beside each what brute force makes of it.

    python3 scripts/dace_files.py FOLDER

`NAME.sdfg` is a graph, `NAME.json` says which values its symbols have and how often each element is touched, counted by plain Python loops
that know nothing of the graph.
"""
import json
import os
import sys
from collections import Counter

import dace
import numpy as np

N, M, K = (dace.symbol(s) for s in "NMK")
OUT = sys.argv[1]


@dace.program
def matmul(A: dace.float32[N, K], B: dace.float32[K, M], C: dace.float32[N, M]):
    for i, j, k in dace.map[0:N, 0:M, 0:K]:
        with dace.tasklet:
            a << A[i, k]
            b << B[k, j]
            c >> C(1, lambda x, y: x + y)[i, j]
            c = a * b


@dace.program
def outer(A: dace.float64[N], B: dace.float64[M], C: dace.float64[N, M]):
    for i, j in dace.map[0:N, 0:M]:
        C[i, j] = A[i] * B[j]


@dace.program
def triangular(A: dace.float64[N, N], x: dace.float64[N]):
    for i in range(N):
        for j in range(i):
            x[i] -= A[i, j] * x[j]


@dace.program
def jacobi(T: dace.int32, A: dace.float64[N], B: dace.float64[N]):
    for t in range(T):
        for i in dace.map[1 : N - 1]:
            B[i] = A[i - 1] + A[i] + A[i + 1]
        for i in dace.map[1 : N - 1]:
            A[i] = B[i]


@dace.program
def row(a: dace.float64[N], b: dace.float64[N]):
    for i in dace.map[0:N]:
        b[i] = a[i] + 1


@dace.program
def nested(A: dace.float64[M, N], B: dace.float64[M, N]):
    for r in dace.map[0:M]:
        row(A[r, :], B[r, :])


@dace.program
def view(A: dace.float64[N, M], B: dace.float64[N * M]):
    V = np.reshape(A, [N * M])
    for i in dace.map[0 : N * M]:
        B[i] = V[i] * 2


@dace.program
def library(A: dace.float64[N, K], B: dace.float64[K, M], C: dace.float64[N, M]):
    C[:] = A @ B


@dace.program
def gather(A: dace.float64[N], idx: dace.int32[M], B: dace.float64[M]):
    for i in dace.map[0:M]:
        B[i] = A[idx[i]]


def count_matmul(N, M, K):
    out = []
    for i in range(N):
        for j in range(M):
            for k in range(K):
                out += [("A", i * K + k), ("B", k * M + j), ("C", i * M + j)]
    return out


def count_outer(N, M):
    out = []
    for i in range(N):
        for j in range(M):
            out += [("A", i), ("B", j), ("C", i * M + j)]
    return out


def count_triangular(N):
    out = []
    for i in range(N):
        for j in range(i):
            out += [("A", i * N + j), ("x", j), ("x", i), ("x", i)]
    return out


def count_jacobi(N, T):
    out = []
    for _ in range(T):
        for i in range(1, N - 1):
            out += [("A", i - 1), ("A", i), ("A", i + 1), ("B", i)]
        for i in range(1, N - 1):
            out += [("B", i), ("A", i)]
    return out


def count_nested(N, M):
    out = []
    for i in range(M * N):
        out += [("A", i), ("B", i)]
    return out


def save(program, name, values, accesses, simplify=True, compress=False, **options):
    sdfg = program.to_sdfg(simplify=simplify, **options)
    path = os.path.join(OUT, name + (".sdfgz" if compress else ".sdfg"))
    sdfg.save(path, **({"compress": True} if compress else {}))
    told = {"dace": dace.__version__, "set": values, "file": os.path.basename(path)}
    if accesses is not None:
        told["accesses"] = dict(Counter(c for c, _ in accesses))
        told["elements"] = dict(Counter(c for c, _ in set(accesses)))
    with open(os.path.join(OUT, name + ".json"), "w") as out:
        json.dump(told, out)


os.makedirs(OUT, exist_ok=True)
nmk = {"N": 5, "M": 7, "K": 6}
nm = {"N": 5, "M": 7}
save(matmul, "matmul", nmk, count_matmul(5, 7, 6))
save(matmul, "matmul_raw", nmk, count_matmul(5, 7, 6), simplify=False)
save(matmul, "matmul_packed", nmk, count_matmul(5, 7, 6), compress=True)
save(outer, "outer", nm, count_outer(5, 7))
save(triangular, "triangular", {"N": 9}, count_triangular(9))
save(triangular, "triangular_raw", {"N": 9}, count_triangular(9), simplify=False)
save(jacobi, "jacobi", {"N": 9, "T": 3}, count_jacobi(9, 3))
save(nested, "nested", nm, count_nested(5, 7))
save(nested, "nested_raw", nm, count_nested(5, 7), simplify=False)
save(view, "view", nm, count_nested(5, 7))
save(library, "library", nmk, None)
save(gather, "gather", nm, None)
try:
    regions = dace.program(use_experimental_cfg_blocks=True)(triangular.f)
    save(regions, "triangular_regions", {"N": 9}, count_triangular(9))
except TypeError:
    # Older than regions.
    pass
print(dace.__version__)
