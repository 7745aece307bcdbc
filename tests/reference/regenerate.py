"""Traces and counts: called by regenerate.sh, which has run the programs under valgrind. See README.md.

regenerate.py WORK OUT: WORK holds *.log (lackey) and *.out (cachegrind); traces and CSV files go to OUT.
"""

import gzip
import pathlib
import re
import sys

from cachesim import Cache, CacheSimulator, MainMemory

import dinero_model
from model import Model, read_cache

HERE = pathlib.Path(__file__).parent
LEVEL_COUNTERS = "reads read_misses writes write_misses fetches fetch_misses fills evictions invalidations writebacks bytes_in bytes_out".split()


# --- traces -----------------------------------------------------------------------------------------------------------


class Rng:
    """splitmix64: the same numbers in every language and version."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def below(self, n):
        return self.next() % n


def zipf_line(rng, lines):
    """A line, the k-th with a weight of about 1/k: lines ** u, u uniform, in integers (a power of two by a random length)."""
    bits = rng.below(lines.bit_length())
    k = (1 << bits) - 1 + rng.below(1 << bits)
    return k * 7919 % lines


def uniform(seed, n, span, kinds):
    rng = Rng(seed)
    for _ in range(n):
        yield kinds[rng.below(len(kinds))], 0x10000 + rng.below(span // 8) * 8, 8


def any_size(seed, n, span, kinds):
    """1 to 64 bytes at any address; now and then a whole aligned line of 64."""
    rng = Rng(seed)
    for _ in range(n):
        kind = kinds[rng.below(len(kinds))]
        if rng.below(6) == 0:
            yield kind, 0x20000 + rng.below(span // 64) * 64, 64
        else:
            yield kind, 0x20000 + rng.below(span), 1 + rng.below(64)


def stride(n, step, span, kinds):
    for i in range(n):
        yield kinds[i % len(kinds)], 0x30000 + i * step % span, 4


def zipf(seed, n, lines, kinds):
    rng = Rng(seed)
    for _ in range(n):
        yield kinds[rng.below(len(kinds))], 0x40000 + zipf_line(rng, lines) * 64 + rng.below(16) * 4, 4


def stream(n, span, store):
    """One array, or a copy of one into another, again and again."""
    for i in range(n):
        at = i * 8 % span
        yield "R", 0x50000 + at, 8
        if store:
            yield "W", 0x60000 + at, 8


def matmul(n, store):
    """c += a b, all of doubles; c is loaded and stored each time, or left out."""
    for i in range(n):
        for j in range(n):
            for k in range(n):
                yield "R", 0x70000 + (i * n + k) * 8, 8
                yield "R", 0x71000 + (k * n + j) * 8, 8
                if store:
                    yield "M", 0x72000 + (i * n + j) * 8, 8


def far(seed, n):
    """Line 0, addresses past 2^32, and the top of the lower half of the address space."""
    rng = Rng(seed)
    places = [0, 0x1_0000_0000, 0x7FFF_FFFF_0000, 0x7FFF_FFFF_FFFF_F000]
    for _ in range(n):
        yield "R", places[rng.below(4)] + rng.below(512) * 8, 8


TRACES = {
    "r_uniform": lambda: uniform(1, 1200, 16 << 10, "R"),
    "r_bytes": lambda: any_size(2, 1200, 8 << 10, "R"),
    "r_stride": lambda: stride(1500, 72, 20000, "R"),
    "r_zipf": lambda: zipf(3, 1500, 1024, "R"),
    "r_stream": lambda: stream(3000, 12 << 10, False),
    "r_matmul": lambda: matmul(11, False),
    "r_far": lambda: far(4, 800),
    "w_uniform": lambda: uniform(5, 1200, 16 << 10, "RRW"),
    "w_bytes": lambda: any_size(6, 1200, 8 << 10, "RWW"),
    "w_stride": lambda: stride(1500, 72, 20000, "WRR"),
    "w_zipf": lambda: zipf(7, 1500, 1024, "RRRWM"),
    "w_stream": lambda: stream(1500, 6 << 10, True),
    "w_matmul": lambda: matmul(10, True),
}


def write_trace(path, references):
    """As lackey writes them, packed."""
    names = {"R": "L", "W": "S", "M": "M"}
    lines = (f" {names[k]} {a:08x},{s}" for k, a, s in references)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())


def read_log(path):
    with open(path) as file:
        found = (re.match(r"(I | L| S| M) ([0-9a-f]+),(\d+)$", line) for line in file)
        return [({"L": "R", "S": "W"}.get(m[1].strip(), m[1].strip()), int(m[2], 16), int(m[3])) for m in found if m]


# --- peers ------------------------------------------------------------------------------------------------------------


def run_pycachesim(levels, references):
    """LOAD, STORE, HIT, MISS, EVICT by level."""
    memory = MainMemory()
    caches, outer, victim = [], None, None
    for level in reversed(levels):
        assert not level.allocate or level.back, "pycachesim knows no write-through with allocation"
        cache = Cache(
            level.name,
            level.sets,
            level.ways,
            level.line,
            level.policy.upper(),
            write_back=level.back,
            write_allocate=level.allocate,
            load_from=None if level.exclusive else outer,
            store_to=None if level.exclusive else outer,
            victims_to=victim,
        )
        caches.insert(0, cache)
        victim = cache if level.exclusive else None
        if not level.exclusive:
            outer = cache
    last = caches[-1]
    memory.load_to(last)
    memory.store_from(last)
    simulator = CacheSimulator(caches[0], memory)
    for kind, addr, size in references:
        # As lists: one bare address would be cut to 32 bits.
        if kind in "RM":
            simulator.load([addr], length=size)
        if kind in "WM":
            simulator.store([addr], length=size)
    names = ("LOAD", "STORE", "HIT", "MISS", "EVICT")
    return {cache.name: {name: getattr(cache.backend, name + "_count") for name in names} for cache in caches}


def read_cachegrind(path):
    text = path.read_text()
    names = re.search(r"^events: (.*)$", text, re.M)[1].split()
    return dict(zip(names, map(int, re.search(r"^summary: (.*)$", text, re.M)[1].split())))


def cachegrind_geometry(path):
    """Bytes, line, ways of I1, D1, LL as cachegrind understood them."""
    found = re.findall(r"^desc: (\w\w) cache: +(\d+) B, (\d+) B, (\S+)", path.read_text(), re.M)
    ways = lambda text: 1 if text.startswith("direct") else int(text.split("-")[0])
    return {name: (int(size), int(line), ways(text)) for name, size, line, text in found}


# --- the peers' names for what we count: the same table is in README.md and in tests/sim/reference.rs ------------------


def pycachesim_view(model):
    return {
        s.level.name: {
            "LOAD": s.counts.reads,
            "STORE": s.counts.writes,
            "HIT": s.counts.hits,
            "MISS": s.counts.read_misses + s.counts.write_misses,
            "EVICT": s.counts.writebacks,
        }
        for s in model.levels
    }


ACCESSES = "reads read_misses writes write_misses fetches fetch_misses".split()
DINERO = "reads read_misses writes write_misses writebacks".split()


def cachegrind_view(model):
    return {s.level.name: {k: getattr(s.counts, k) for k in ACCESSES} for s in model.levels}


def cachegrind_counts(c):
    """cachegrind's counters under our names; what it has no name for is 0."""
    zero = dict.fromkeys(ACCESSES, 0)
    d1 = {"reads": c["Dr"], "read_misses": c["D1mr"], "writes": c["Dw"], "write_misses": c["D1mw"]}
    i1 = {"fetches": c["Ir"], "fetch_misses": c["I1mr"]}
    ll = {
        "reads": c["D1mr"] + c["D1mw"],
        "read_misses": c["DLmr"] + c["DLmw"],
        "fetches": c["I1mr"],
        "fetch_misses": c["ILmr"],
    }
    return {"I1": zero | i1, "D1": zero | d1, "LL": zero | ll}


def dinero_view(model):
    counts = {s.level.name: {k: getattr(s.counts, k) for k in DINERO} for s in model.levels}
    return counts | {"memory": {k: model.memory[k] for k in ("reads", "writes")}}


def as_reads(references):
    return [("R" if k in "WM" else k, a, s) for k, a, s in references]


# --- all together -----------------------------------------------------------------------------------------------------


class Book:
    """The CSV files while they are made."""

    def __init__(self):
        self.contract, self.pycachesim, self.cachegrind, self.dinero, self.differences = [], [], [], [], []
        self.done = set()

    def note_contract(self, cache, trace, view, levels, model):
        if (cache, trace, view) in self.done:
            return
        self.done.add((cache, trace, view))
        for state in model.levels:
            row = [str(getattr(state.counts, k)) for k in LEVEL_COUNTERS]
            if any(level.exclusive for level in levels):
                # What a request that passes an exclusive level by counts there is not part of the contract.
                row[-2:] = ["", ""]
            self.contract.append([cache, trace, view, state.level.name, *row])
        m = model.memory
        row = dict.fromkeys(LEVEL_COUNTERS, "")
        row |= {"reads": m["reads"], "writes": m["writes"], "bytes_in": m["bytes_read"], "bytes_out": m["bytes_written"]}
        self.contract.append([cache, trace, view, "memory", *map(str, row.values())])

    def note(self, peer, cache, trace, view, levels, knobs, references, counts, see):
        """Compares a peer with the contract, knob after knob; `see` gives a model's counters in the peer's names, by level."""
        models = [Model(levels, knobs[:n]) for n in range(len(knobs) + 1)]
        for model in models:
            for reference in references:
                model.play(*reference)
            model.finish(view == "flush")
        self.note_contract(cache, trace, view, levels, models[0])
        seen = [see(model) for model in models]
        if seen[-1] != counts:
            sys.exit(f"{peer}, {cache}, {trace}, {view}: the ledger does not explain it:\n peer  {counts}\n model {seen[-1]}")
        for level in counts:
            for name, value in counts[level].items():
                steps = [s[level][name] for s in seen]
                if value != steps[0]:
                    rows = [knob for knob, (a, b) in zip(knobs, zip(steps, steps[1:])) if a != b]
                    self.differences.append([peer, cache, trace, view, level, name, str(value), str(steps[0]), " ".join(rows)])

    def write(self, out):
        key = "cache,trace,view,level,"
        files = {
            "contract": (key + ",".join(LEVEL_COUNTERS), self.contract),
            "pycachesim": ("cache,trace,level,LOAD,STORE,HIT,MISS,EVICT", self.pycachesim),
            "cachegrind": ("cache,trace,Ir,I1mr,ILmr,Dr,D1mr,DLmr,Dw,D1mw,DLmw", self.cachegrind),
            "dinero_model": ("peer," + key + "reads,read_misses,writes,write_misses,writebacks", self.dinero),
            "differences": ("peer," + key + "counter,peer_value,ours,rows", self.differences),
        }
        for name, (head, rows) in files.items():
            (out / f"{name}.csv").write_text("\n".join([head, *(",".join(row) for row in rows)]) + "\n")


# In the order in which a difference is put down to them.
PYCACHESIM = ["P9", "P7", "P12", "P15", "P11", "P13", "P14", "P1", "P4", "P5", "P2", "P3", "P6", "P8", "P10"]
CACHEGRIND = ["C3", "C4", "C5", "C6", "C1", "C2"]
PROGRAMS = ["tidy", "untidy", "c1", "c2", "c3", "c4", "c5", "c6"]
BACK = ["dm", "lru4", "full", "fifo4", "odd", "two", "twofifo", "mixed", "grow", "inverted", "three", "threeodd", "threefifo"]


def main():
    work, out = map(pathlib.Path, sys.argv[1:])
    book = Book()
    traces = {name: list(make()) for name, make in TRACES.items()}
    for name, references in traces.items():
        write_trace(out / "traces" / f"{name}.gz", references)
    examples = read_examples()
    traces |= {row: references for row, (_, _, references) in examples.items()}
    loads = [name for name in TRACES if name.startswith("r_")]
    stores = [name for name in TRACES if name.startswith("w_")]
    caches = {path.stem: read_cache(path) for path in sorted((HERE / "caches").glob("*.toml"))}

    def pycachesim(cache, trace):
        levels = caches[cache]
        counts = run_pycachesim(levels, traces[trace])
        for level, row in counts.items():
            book.pycachesim.append([cache, trace, level, *map(str, row.values())])
        book.note("pycachesim", cache, trace, "plain", levels, PYCACHESIM, traces[trace], counts, pycachesim_view)

    def dinero(cache, trace, view="plain", program=False):
        levels = caches[cache]
        peer = "dinero program" if program else "dinero"
        found = dinero_model.play(levels, traces[trace], program or view == "flush")
        counts = {level.name: {k: row[k] for k in DINERO} for level, row in zip(levels, found)}
        counts["memory"] = {k: found[-1][k] for k in ("reads", "writes")}
        for level, row in counts.items():
            book.dinero.append([peer, cache, trace, view, level, *(str(row.get(k, "")) for k in DINERO)])
        knobs = ["D2", "D1"] if program else ["D2"]
        book.note(peer, cache, trace, view, levels, knobs, traces[trace], counts, dinero_view)

    for cache in BACK:
        for trace in loads + stores:
            pycachesim(cache, trace)
    for cache in ["through", "through2", "around", "backnone", "backthrough", "mru1", "twofetch"]:
        for trace in ["r_zipf", "r_bytes", *stores]:
            pycachesim(cache, trace)
    for trace in loads:
        pycachesim("victim1", trace)
    for trace in ["r_zipf", "r_uniform", "w_zipf"]:
        pycachesim("victim4", trace)
    for cache in ["dm", "lru4", "fifo4", "two", "mixed", "grow", "inverted", "three", "threefifo"]:
        for trace in loads + stores:
            dinero(cache, trace)
    for cache in ["through", "through2", "throughalloc", "around", "backnone", "backthrough"]:
        for trace in ["r_zipf", "r_bytes", *stores]:
            dinero(cache, trace)
    for cache in ["fifo4", "two", "grow", "three", "through"]:
        for trace in stores:
            dinero(cache, trace, "flush")
    for trace in ["w_zipf", "w_bytes"]:
        dinero("two", trace, program=True)
    for trace in ["r_zipf", *stores]:
        # No peer has this order; the model of the contract has.
        model = Model(caches["first"])
        for reference in traces[trace]:
            model.play(*reference)
        book.note_contract("first", trace, "plain", caches["first"], model)
    for row, (peer, cache, references) in examples.items():
        if peer == "pycachesim":
            pycachesim(cache, row)
        elif peer.startswith("dinero"):
            dinero(cache, row, program=peer != "dinero")

    for program in PROGRAMS:
        references = read_log(work / f"{program}.log")
        for cache in ["cg_d1", "cg_small", "cg_mid", "cg_grow"]:
            if program in examples and examples[program][1] != cache:
                continue
            levels = caches[cache]
            # That file drops fetches.
            played = [r for r in references if cache != "cg_d1" or r[0] != "I"]
            path = work / f"{program}.{'cg_small' if cache == 'cg_d1' else cache}.out"
            had = cachegrind_geometry(path)
            for level in levels:
                if (level.sets * level.ways * level.line, level.line, level.ways) != had[level.name]:
                    sys.exit(f"{cache}: cachegrind had {had}, the file says {level}")
            found = read_cachegrind(path)
            book.cachegrind.append([cache, program, *map(str, found.values())])
            merged = dict(found)
            for read, write in [("Dr", "Dw"), ("D1mr", "D1mw"), ("DLmr", "DLmw")]:
                merged[read], merged[write] = found[read] + found[write], 0
            for view, counters in [("plain", found), ("reads", merged)]:
                if view == "reads" and program in examples:
                    continue
                counts = {k: v for k, v in cachegrind_counts(counters).items() if k in [level.name for level in levels]}
                book.note(
                    "cachegrind",
                    cache,
                    program,
                    view,
                    levels,
                    CACHEGRIND,
                    as_reads(played) if view == "reads" else played,
                    counts,
                    cachegrind_view,
                )
    book.write(out)


def read_examples():
    """Row, in small letters: (peer, cache, references) from the ledger's tables; no references where a program is the
    example."""
    rows = {}
    for line in (HERE / "DEVIATIONS.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not re.fullmatch(r"[PCD]\d+", cells[0]):
            continue
        row, peer, cache, trace = cells[0].lower(), cells[1], cells[4].strip("`"), cells[5].strip("`")
        parts = [] if trace.startswith("examples.S") else [text.split() for text in trace.split("; ")]
        rows[row] = (peer, cache, [(kind, int(addr, 16), int(size)) for kind, addr, size in parts])
    return rows


main()
