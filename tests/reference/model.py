"""A second opinion on the contract: a slow model, written from DESIGN section 5 and the semantics agreed for src/sim.

It shares no code with src/sim, but its author had read that, so a misreading of the contract could be common to both.

With no knob turned it gives what the contract says. Each knob is one row of DEVIATIONS.md: what one peer does differently.
With all knobs of a peer turned, the model must give exactly what that peer printed; regenerate.py stops where it does not.
So a difference between a peer and the contract is known to be made of the ledger's rows and of nothing else.

Python 3.11 or later, standard library only.
"""

import tomllib
from dataclasses import dataclass, field

READ, WRITE, FETCH, BACK = "read", "write", "fetch", "back"
SUFFIX = {"KiB": 1024, "MiB": 1024**2}


@dataclass
class Level:
    """One cache, as its TOML says."""

    name: str
    sets: int
    ways: int
    line: int
    policy: str
    back: bool
    allocate: bool
    exclusive: bool
    holds: str
    # Of the whole hierarchy:
    writeback_first: bool
    fetch_whole: bool


@dataclass
class Counts:
    hits: int = 0
    reads: int = 0
    read_misses: int = 0
    writes: int = 0
    write_misses: int = 0
    fetches: int = 0
    fetch_misses: int = 0
    fills: int = 0
    evictions: int = 0
    invalidations: int = 0
    writebacks: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


@dataclass
class State:
    """Lines of each set, the next victim last: [line number, dirty]."""

    level: Level
    sets: list = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)


def size_of(text):
    for suffix, factor in SUFFIX.items():
        if text.endswith(suffix):
            return int(text.removesuffix(suffix)) * factor
    return int(text)


def read_cache(path):
    """Levels of a configuration file, innermost first."""
    with open(path, "rb") as file:
        config = tomllib.load(file)
    options = config.get("hierarchy", {})
    result = []
    for level in config["level"]:
        lines = size_of(level["size"]) // level["line"]
        ways = lines if level["ways"] == "full" else level["ways"]
        result.append(
            Level(
                name=level["name"],
                sets=lines // ways,
                ways=ways,
                line=level["line"],
                policy=level["policy"],
                back=level.get("write", "back") == "back",
                allocate=level.get("allocate", "write") == "write",
                exclusive=level.get("inclusion", "nine") == "exclusive",
                holds="data" if config.get("data_only") else level.get("holds", "unified"),
                writeback_first=options.get("writeback_first", False),
                fetch_whole=options.get("fetch_on_full_line_write", False),
            )
        )
    return result


class Model:
    """Plays references (kind, address, size); kinds R W M I."""

    def __init__(self, levels, knobs=()):
        self.knobs = frozenset(knobs)
        self.levels = [State(level, [[] for _ in range(level.sets)]) for level in levels]
        for state in self.levels:
            if state.level.policy == "mru" and "P9" in self.knobs:
                state.sets = [[[None, False] for _ in range(state.level.ways)] for _ in state.sets]
        self.memory = {"reads": 0, "writes": 0, "bytes_read": 0, "bytes_written": 0}
        # Line 0 of a cachegrind cache is there from the start: its empty tags are 0.
        if "C3" in self.knobs:
            for state in self.levels:
                state.sets[0] = [[0, False] for _ in range(state.level.ways)]

    def play(self, kind, addr, size):
        last = min(addr + max(size, 1), 1 << 64) - 1
        side = FETCH if kind == "I" else READ
        path = [n for n, s in enumerate(self.levels) if s.level.holds in ("unified", "instructions" if kind == "I" else "data")]
        if "C1" in self.knobs:
            return self.play_once(kind, addr, last, path)
        if kind in "RMI":
            self.request(path, addr, last, side)
        if kind == "W" or (kind == "M" and "C5" not in self.knobs):
            self.request(path, addr, last, WRITE)

    # --- the contract -------------------------------------------------------------------------------------------------

    def request(self, path, first, last, kind):
        """A request that reaches path[0], cut at its line boundaries; past the last level it is memory's."""
        if not path:
            write = kind in (WRITE, BACK)
            self.memory["writes" if write else "reads"] += 1
            self.memory["bytes_written" if write else "bytes_read"] += last - first + 1
            return False
        state = self.levels[path[0]]
        if "P6" in self.knobs:
            self.count(state, kind)
        shift = state.level.line.bit_length() - 1
        dirty = False
        for line in range(first >> shift, (last >> shift) + 1):
            start, end = line << shift, ((line + 1) << shift) - 1
            if "P6" not in self.knobs:
                self.count(state, kind)
            dirty = self.access(path, line, max(first, start), min(last, end), kind)
        return dirty

    def count(self, state, kind, miss=False):
        name = {READ: "read", FETCH: "fetch", WRITE: "write", BACK: "write"}[kind]
        name += "_misses" if miss else "es" if name == "fetch" else "s"
        setattr(state.counts, name, getattr(state.counts, name) + 1)

    def access(self, path, line, first, last, kind):
        """One access. True if a dirty line moved inward (exclusive levels only)."""
        state, rest = self.levels[path[0]], path[1:]
        level, counts = state.level, state.counts
        lines = state.sets[line % level.sets]
        write = kind in (WRITE, BACK)
        whole = last - first + 1 == level.line
        at = find(lines, line)

        if at is not None:
            counts.hits += not (write and "P2" in self.knobs)
            if level.exclusive and kind in (READ, FETCH):
                if "P11" in self.knobs:
                    lines.insert(0, lines.pop(at))
                    return False
                counts.invalidations += 1
                return lines.pop(at)[1]
            if level.policy in ("lru", "mru") and not (write and "P1" in self.knobs):
                lines.insert(0, lines.pop(at))
                at = 0
            if write and level.back:
                lines[at][1] = True
            elif write:
                self.pass_on(state, rest, first, last, kind)
            return False

        if level.exclusive and kind in (READ, FETCH):
            if "P13" in self.knobs:
                counts.reads -= 1
            else:
                self.count(state, kind, miss=True)
            return self.request(rest, first, last, kind)
        if not (write and not level.allocate and "P8" in self.knobs):
            self.count(state, kind, miss=True)
        skip = level.exclusive or not level.allocate if kind == WRITE else False
        if kind == BACK and not level.allocate:
            skip = "D2" in self.knobs or ("P12" in self.knobs and not level.back)
        if skip and level.back and "P7" in self.knobs:
            # Takes the line, dirty, without asking for it.
            self.fill(path, line, True)
            return False
        if skip:
            self.pass_on(state, rest, first, last, kind)
            return False
        if write and level.allocate and "P3" in self.knobs:
            counts.reads += 1
        ask = not (write and whole)
        if kind == WRITE and level.fetch_whole:
            ask = True
        if write and level.allocate and ({"P4", "C6"} if kind == WRITE else {"P5"}) & self.knobs:
            ask = True
        victim = self.take(state, line, write and level.back)
        if level.writeback_first:
            self.dismiss(state, path, victim)
        if ask:
            counts.bytes_in += level.line
            base = line * level.line
            dirty = self.request(rest, base, base + level.line - 1, FETCH if kind == FETCH else READ)
            if dirty:
                next(l for l in lines if l[0] == line)[1] = True
        if write and not level.back:
            self.pass_on(state, rest, first, last, kind)
        if not level.writeback_first:
            self.dismiss(state, path, victim)
        return False

    def fill(self, path, line, dirty):
        state = self.levels[path[0]]
        self.dismiss(state, path, self.take(state, line, dirty))

    def take(self, state, line, dirty):
        """Puts a line into its set; gives the victim."""
        lines = state.sets[line % state.level.sets]
        victim = None
        state.counts.fills += 1
        if state.level.policy == "mru" and "P9" in self.knobs:
            # Names the most recent line as the victim, and overwrites the least recent one.
            victim = list(lines[0])
            lines[-1] = [line, dirty]
            return None if victim[0] is None else victim
        if len(lines) == state.level.ways:
            victim = lines.pop(0 if state.level.policy == "mru" else -1)
            state.counts.evictions += 1
        lines.insert(0, [line, dirty])
        return victim

    def pass_on(self, state, rest, first, last, kind):
        state.counts.bytes_out += last - first + 1
        if "P10" in self.knobs and rest:
            state.counts.writebacks += 1
        self.request(rest, first, last, kind)

    def dismiss(self, state, path, victim):
        """What becomes of a victim: written back if dirty; an exclusive next level takes it in any case."""
        if victim is None or "C4" in self.knobs:
            return
        line, dirty = victim
        first = line * state.level.line
        rest = path[1:]
        outer = self.levels[rest[0]] if rest else None
        if outer and outer.level.exclusive and "P15" in self.knobs and dirty:
            rest, outer = rest[1:], None
        if dirty:
            state.counts.writebacks += 1
            state.counts.bytes_out += state.level.line
        if outer and outer.level.exclusive:
            if "P14" in self.knobs:
                state.counts.writebacks += 1
                outer.counts.writes += 1
            lines = outer.sets[line % outer.level.sets]
            at = find(lines, line)
            if dirty:
                outer.counts.writes += 1
                outer.counts.write_misses += at is None
                outer.counts.hits += at is not None
            if at is not None and "P11" not in self.knobs:
                lines.insert(0, [line, lines.pop(at)[1] or dirty])
            else:
                self.fill(rest, line, dirty)
        elif dirty:
            self.request(rest, first, first + state.level.line - 1, BACK)

    def finish(self, flush):
        """Where a flush is asked for: innermost level first, set by set, the next victim first. Lines stay, clean."""
        if not flush and "D1" not in self.knobs:
            return
        for n, state in enumerate(self.levels):
            for lines in state.sets:
                for line in reversed(lines):
                    if line[1]:
                        line[1] = False
                        state.counts.writebacks += 1
                        state.counts.bytes_out += state.level.line
                        first = line[0] * state.level.line
                        self.request(list(range(n + 1, len(self.levels))), first, first + state.level.line - 1, BACK)

    # --- cachegrind's way of asking: one access, one miss at most, a straddle asks the next level for both lines ------

    def play_once(self, kind, addr, last, path):
        kinds = {"R": [READ], "M": [READ] if "C5" in self.knobs else [READ, WRITE], "W": [WRITE], "I": [FETCH]}[kind]
        for kind in kinds:
            spans = [(addr, last)]
            for n, at in enumerate(path):
                state = self.levels[at]
                asked = kind if n == 0 or kind == FETCH else READ
                self.count(state, asked)
                shift = state.level.line.bit_length() - 1
                touched = sorted({l for a, b in spans for l in range(a >> shift, (b >> shift) + 1)})
                missed = []
                for line in touched:
                    lines = state.sets[line % state.level.sets]
                    found = find(lines, line)
                    if found is not None:
                        lines.insert(0, lines.pop(found))
                    else:
                        self.take(state, line, False)
                        missed.append((line << shift, ((line + 1) << shift) - 1))
                if not missed:
                    state.counts.hits += 1
                    break
                self.count(state, asked, miss=True)
                if "C2" not in self.knobs:
                    spans = [(max(a, addr), min(b, last)) for a, b in missed]


def find(lines, line):
    """Where in a set a line stands, or None."""
    return next((n for n, (held, _) in enumerate(lines) if held == line), None)
